"""The same training by hand, by gradledger and by other libraries, each as its documentation shows it."""
