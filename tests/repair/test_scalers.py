"""Scalers and clips: unscale, step, update and clip in the right order."""

from __future__ import annotations

from textwrap import dedent

from tests.repair.made import finding, repaired, top


def lines(text: str) -> str:
    return dedent(text).lstrip("\n")


def test_unscaling_names_the_optimizer_of_the_clipped_parameters() -> None:
    text = lines("""
        opt_g = Adam(gen.parameters())
        opt_d = Adam(dis.parameters())
        for x in d:
            scaler.scale(f(x)).backward()
            clip_grad_norm_(dis.parameters(), 1.0)
            scaler.step(opt_g)
            scaler.step(opt_d)
            scaler.update()
    """)
    after = top("GL301", text, "clip_grad_norm_(dis.parameters(), 1.0)", "scaler.scale(f(x)).backward()")
    assert "    scaler.unscale_(opt_d)\n    clip" in after


def test_a_scaled_arm_gets_its_own_step() -> None:
    text = lines("""
        for x in d:
            if use_amp:
                scaler.scale(f(x)).backward()
            else:
                f(x).backward()
            opt.step()
    """)
    after = top("GL302", text, "opt.step()", "scaler.scale(f(x)).backward()")
    arms = "if use_amp:\n        scaler.step(opt)\n        scaler.update()\n    else:\n        opt.step()\n"
    assert after == text.replace("    opt.step()\n", "    " + arms)


def test_one_update_closes_the_steps_of_two_optimizers() -> None:
    text = lines("""
        for x in d:
            scaler.step(opt_a)
            scaler.step(opt_b)
            log(x)
    """)
    assert "scaler.step(opt_b)\n    scaler.update()\n" in top("GL303", text, "scaler.step(opt_a)")


def test_a_late_clip_of_scaled_gradients_is_unscaled_on_its_way() -> None:
    text = lines("""
        for x in d:
            scaler.scale(f(x)).backward()
            scaler.step(opt)
            scaler.update()
            clip_grad_norm_(
                model.parameters(),
                1.0,
            )
    """)
    after = top("GL304", text, "clip_grad_norm_", message="clips after the step has applied the gradients")
    assert after == lines("""
        for x in d:
            scaler.scale(f(x)).backward()
            scaler.unscale_(opt)
            clip_grad_norm_(
                model.parameters(),
                1.0,
            )
            scaler.step(opt)
            scaler.update()
    """)


def test_a_late_clip_is_not_taken_for_the_schedules_step() -> None:
    text = "for x in d:\n    f(x).backward()\n    opt.step()\n    sched.step()\n    clip_grad_norm_(ps, 1)\n"
    after = top("GL304", text, "clip_grad_norm_(ps, 1)", message="clips after the step has applied them")
    assert (
        after
        == "for x in d:\n    f(x).backward()\n    clip_grad_norm_(ps, 1)\n    opt.step()\n    sched.step()\n"
    )


def test_a_scaler_stays_inside_the_loop_that_builds_its_optimizer() -> None:
    text = lines("""
        for fold in folds:
            opt = torch.optim.SGD(ps, lr=1)
            for epoch in range(3):
                for x in d:
                    scaler = GradScaler()
                    scaler.step(opt)
    """)
    after = top("GL308", text, "GradScaler()")
    assert "lr=1)\n    scaler = GradScaler()\n    for epoch" in after


def test_a_scaler_made_from_a_loops_variable_is_left_alone() -> None:
    text = "for e, s in scales:\n    scaler = GradScaler(init_scale=s)\n    scaler.step(opt)\n"
    assert repaired(finding("GL308", text, "GradScaler(init_scale=s)"), text) == []
