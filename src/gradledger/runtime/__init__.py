"""Front end 1: a running program becomes ledger events; one probe file per torch seam."""
