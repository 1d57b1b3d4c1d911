"""Where a clear is missing or misplaced: whose it is, in which words, and where it goes."""

from __future__ import annotations

from textwrap import dedent

from tests.repair.made import finding, repaired, top


def lines(text: str) -> str:
    return dedent(text).lstrip("\n")


def test_the_clear_is_that_of_the_stepped_attribute() -> None:
    text = lines("""
        class T:
            def update(self, loss):
                loss.backward()
                self.opt_d.step()
    """)
    after = top("GL101", text, "loss.backward()", "self.opt_d.step()")
    assert after == text.replace("        loss.b", "        self.opt_d.zero_grad()\n        loss.b")


def test_the_clear_through_a_scaler_is_the_optimizers() -> None:
    text = lines("""
        for x in data:
            scaler.scale(f(x)).backward()
            scaler.step(optimizer)
            scaler.update()
    """)
    after = top("GL101", text, "scaler.scale(f(x)).backward()", "scaler.step(optimizer)")
    assert "    optimizer.zero_grad()\n    scaler.scale" in after


def test_a_window_without_clear_gets_it_after_the_step() -> None:
    text = lines("""
        for i, x in enumerate(data):
            (f(x) / 4).backward()
            if (i + 1) % 4 == 0:
                scaler.step(optimizer)
                scaler.update()
    """)
    after = top("GL101", text, "(f(x) / 4).backward()", "scaler.step(optimizer)")
    assert after.endswith("        scaler.update()\n        optimizer.zero_grad()\n")


def test_the_options_of_other_clears_are_kept() -> None:
    text = lines("""
        warm.zero_grad(set_to_none=True)
        for x in data:
            f(x).backward()
            opt.step()
    """)
    assert "    opt.zero_grad(set_to_none=True)\n    f(x)" in top(
        "GL101", text, "f(x).backward()", "opt.step()"
    )


def test_a_file_that_clears_its_model_goes_on_so() -> None:
    text = lines("""
        opt = SGD(model.parameters(), lr=1)
        model.zero_grad()
        for x in data:
            f(x).backward()
            opt.step()
    """)
    assert "    model.zero_grad()\n    f(x)" in top("GL101", text, "f(x).backward()", "opt.step()")


def test_optimizers_in_a_loop_are_cleared_in_that_loop() -> None:
    text = lines("""
        for x in data:
            f(x).backward()
            for opt in optimizers:
                opt.step()
    """)
    assert top("GL101", text, "f(x).backward()", "opt.step()") == text + "        opt.zero_grad()\n"


def test_optimizers_in_a_comprehension_get_a_loop() -> None:
    text = lines("""
        for x in data:
            f(x).backward()
            [opt.step() for opt in optimizers]
    """)
    after = top("GL101", text, "f(x).backward()", "opt.step()")
    assert after == text + "    for opt in optimizers:\n        opt.zero_grad()\n"


def test_a_closure_clears_at_its_start() -> None:
    text = lines('''
        def closure():
            """One evaluation."""
            loss = f()
            loss.backward()
            return loss
        for _ in range(9):
            opt.step(closure)
    ''')
    after = top("GL101", text, "loss.backward()", "opt.step(closure)")
    assert '"""One evaluation."""\n    opt.zero_grad()\n    loss = f()' in after


def test_a_clear_that_is_only_named_is_called() -> None:
    text = "for x in d:\n    opt.zero_grad; f(x).backward(); opt.step()\n"
    after = top("GL101", text, "opt.zero_grad", "f(x).backward()", "opt.step()")
    assert after == text.replace("zero_grad", "zero_grad()")


def test_an_update_by_hand_is_cleared_in_the_files_own_way() -> None:
    text = lines("""
        for x in data:
            f(x).backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
                b.data.sub_(0.1 * b.grad)
    """)
    after = top("GL101", text, "f(x).backward()", "w -= 0.1 * w.grad", "b.data.sub_(0.1 * b.grad)")
    assert after == text + "        w.grad = None\n        b.grad = None\n"
    zeroing = "v.grad.zero_()\n" + text
    after = top("GL101", zeroing, "f(x).backward()", "w -= 0.1 * w.grad", "b.data.sub_(0.1 * b.grad)")
    assert after == zeroing + "        w.grad.zero_()\n        b.grad.zero_()\n"


def test_tabs_crlf_and_a_missing_last_line_ending_stay() -> None:
    text = "for x in d:\r\n\tf(x).backward()\r\n\topt.step()"
    after = top("GL101", text, "f(x).backward()", "opt.step()")
    assert after == "for x in d:\r\n\topt.zero_grad()\r\n\tf(x).backward()\r\n\topt.step()"


def test_a_step_of_something_computed_is_left_alone() -> None:
    text = "for x in d:\n    f(x).backward()\n    make().step()\n"
    assert repaired(finding("GL101", text, "f(x).backward()", "make().step()"), text) == []


def test_a_clear_moves_with_its_comment() -> None:
    text = lines("""
        for x in data:
            f(x).backward()
            # forget the last batch
            opt.zero_grad()  # clear
            opt.step()
    """)
    after = top("GL102", text, "opt.zero_grad()", "f(x).backward()", "opt.step()")
    assert after == lines("""
        for x in data:
            # forget the last batch
            opt.zero_grad()  # clear
            f(x).backward()
            opt.step()
    """)


def test_a_clear_between_semicolons_moves() -> None:
    text = "for x in d:\n    f(x).backward(); opt.zero_grad(); opt.step()\n"
    after = top("GL102", text, "opt.zero_grad()", "f(x).backward()", "opt.step()")
    assert after == "for x in d:\n    opt.zero_grad()\n    f(x).backward(); opt.step()\n"


def test_a_clear_under_a_condition_on_its_line_leaves_pass() -> None:
    text = "for x in d:\n    f(x).backward()\n    if c: opt.zero_grad()\n    opt.step()\n"
    after = top("GL102", text, "opt.zero_grad()", "f(x).backward()", "opt.step()")
    assert "    if c: pass\n    opt.step()\n    opt.zero_grad()\n" in after


def test_a_loop_that_clears_moves_as_a_whole() -> None:
    text = lines("""
        for i, x in enumerate(loader):
            for p in model.parameters():
                p.grad = None
            (f(x) / 4).backward()
            if (i + 1) % 4 == 0:
                opt.step()
    """)
    after = top("GL103", text, "p.grad = None", "(f(x) / 4).backward()", "opt.step()")
    assert after == lines("""
        for i, x in enumerate(loader):
            (f(x) / 4).backward()
            if (i + 1) % 4 == 0:
                opt.step()
                for p in model.parameters():
                    p.grad = None
    """)


def test_what_a_clear_per_micro_batch_hid_is_mended_with_it() -> None:
    text = lines("""
        for i, x in enumerate(loader):
            opt.zero_grad()
            f(x).backward()
            if (i + 1) % n == 0:
                opt.step()
    """)
    results = repaired(finding("GL103", text, "opt.zero_grad()", "f(x).backward()", "opt.step()"), text)
    assert any("or i + 1 == len(loader)" in r and "(f(x) / n)" in r for r in results)
    assert "len(loader)" not in results[0]
