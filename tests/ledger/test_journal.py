"""The journal: states, books, and thinking about each kind of entry once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gradledger.ledger import events as ev
from gradledger.ledger import journal as module
from gradledger.ledger.books import Balance, Books
from gradledger.ledger.journal import Entry, Hit, Journal
from gradledger.ledger.site import Site
from gradledger.ledger.window import Window


def at(line: int) -> Site:
    return Site("train.py", line)


def opened(*numbers: int, optimizer: int | None = None) -> list[ev.Event]:
    """Each account with an optimizer of the same number, unless told otherwise."""
    return [ev.AccountOpened(None, n, 1, optimizer=n if optimizer is None else optimizer) for n in numbers]


def backward(line: int, *accounts: int, loader: int | None = None) -> ev.BackwardRan:
    return ev.BackwardRan(at(line), accounts or (1,), loader=loader)


def step(line: int, *accounts: int, optimizer: int | None = 1) -> ev.OptimizerStepped:
    return ev.OptimizerStepped(at(line), accounts or (1,), optimizer)


def clear(line: int, *accounts: int, owner: int | None = 1) -> ev.GradientCleared:
    return ev.GradientCleared(at(line), accounts or (1,), owner=owner)


def booked(*events: ev.Event) -> Journal:
    journal = Journal()
    journal.post_all(events)
    return journal


class Listener:
    """A judge that notes what it is shown."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.windows: list[Window] = []
        self.hits: list[tuple[int, int]] = []

    def on_entry(self, entry: Entry) -> tuple[Hit, ...]:
        self.entries.append(entry)
        return ()

    def on_window(self, window: Window) -> tuple[Hit, ...]:
        self.windows.append(window)
        return (self,)

    def on_change(self, books: Books) -> None:
        pass

    def hit(self, step: int, balance: Balance | None) -> None:
        self.hits.append((step, balance.fresh if balance else -1))


def test_each_kind_of_entry_is_judged_once_and_each_step_is_counted() -> None:
    listener = Listener()
    journal = Journal(listener)
    journal.post_all(opened(1))
    for _ in range(100):
        journal.post_all([backward(3), step(4), clear(5)])
    assert len(listener.entries) == 2  # a backward on an empty account, a clearing of a used one
    assert len(listener.windows) == 1
    assert listener.hits == [(number, 1) for number in range(1, 101)]


def test_events_are_recorded_as_they_come() -> None:
    seen: list[ev.Event] = []
    journal = Journal(record=seen.append)
    events = [*opened(1), backward(3), step(4)]
    journal.post_all(events)
    assert seen == events


def test_what_is_written_down_otherwise_is_booked_without_being_recorded() -> None:
    seen: list[ev.Event] = []
    journal = Journal(record=seen.append)
    journal.post_all(opened(1))
    with pytest.raises(KeyError), journal.unrecorded():
        journal.post(backward(3))
        journal.post(backward(3, 99))  # an account that nobody opened
    journal.post(step(4))
    assert seen == [*opened(1), step(4)]
    assert (journal.books.balances[1].posted, journal.books.steps) == (1, 1)


def test_balances_follow_the_entries() -> None:
    books = booked(*opened(1), backward(3), backward(3), step(4), backward(3), clear(5), backward(3)).books
    balance = books.balances[1]
    assert (balance.posted, balance.fresh, balance.stale) == (4, 1, 0)
    assert (balance.cleared_unused, balance.cleared_used) == (1, 2)
    assert (balance.backed, balance.steps) == (4, 1)
    assert (books.backwards, books.steps) == (4, 1)
    assert books.unbalanced() == []


def test_a_split_account_takes_over_what_its_parent_holds() -> None:
    split = ev.AccountOpened(None, 2, 3, parent=1, optimizer=1)
    journal = booked(
        ev.AccountOpened(None, 1, 5, optimizer=1), backward(3), split, backward(3, 2), step(4, 1, 2)
    )
    books = journal.books
    assert (books.balances[1].size, books.balances[2].size) == (2, 3)
    assert (books.balances[1].stale, books.balances[2].stale) == (1, 2)
    assert books.accounts[2].stale == (*books.accounts[1].stale, *books.accounts[2].stale[1:])
    assert books.unbalanced() == []


def test_an_account_that_is_split_after_the_step_has_nothing_waiting() -> None:
    split = ev.AccountOpened(None, 2, 3, parent=1, optimizer=1)
    books = booked(ev.AccountOpened(None, 1, 5, optimizer=1), backward(3), step(4), split, clear(5, 2)).books
    assert (books.balances[2].cleared_used, books.balances[2].cleared_unused) == (1, 0)
    assert books.accounts[2].lost == ()
    assert books.unbalanced() == []


def test_windows_are_tallied_by_kind() -> None:
    journal = booked(*opened(1))
    for size in (2, 2, 3, 2):
        journal.post_all([backward(3)] * size)
        journal.post_all([step(4), clear(5)])
    book = journal.books.optimizer(1)
    tallies = sorted((w.size, t.count, t.first, t.last) for w, t in book.windows.items())
    assert tallies == [(2, 3, 1, 4), (3, 1, 3, 3)]
    assert book.sequence.sizes() == [(2, 2), (3, 1), (2, 1)]


def test_another_optimizers_step_marks_the_passes_it_used_and_no_others() -> None:
    journal = booked(*opened(1, 2), backward(3, 2), backward(4, 1, 2), backward(3, 2), backward(4, 1, 2))
    journal.post(step(5, 1))
    marks = [(run.posting.site.line, run.posting.used_by) for run in journal.books.accounts[2].fresh]  # type: ignore[union-attr]
    assert marks == [(3, None), (4, 1), (3, None), (4, 1)]


def test_an_epoch_marks_only_what_came_from_its_source() -> None:
    journal = booked(
        *opened(1, 2), backward(3, 1, loader=7), backward(4, 2, loader=8), ev.EpochEnded(None, 7)
    )
    assert journal.books.accounts[1].tail == 1
    assert journal.books.accounts[2].tail == 0


def test_a_cleared_tail_counts_once_for_each_optimizer() -> None:
    journal = booked(*opened(1, 2, optimizer=1), ev.AccountOpened(None, 3, 1, optimizer=3))
    journal.post_all([backward(3, 1, 2, 3, loader=7), ev.EpochEnded(None, 7), clear(5, 1, 2, 3)])
    assert dict(journal.books.optimizer(1).lost_tails) == {(clear(5, 1, 2, 3), 1): 1}
    assert dict(journal.books.optimizer(3).lost_tails) == {(clear(5, 1, 2, 3), 1): 1}


def test_a_pass_for_an_input_leaves_no_tail() -> None:
    attack = replace(backward(3, loader=7), wants_input=True)
    journal = booked(*opened(1), attack, ev.EpochEnded(None, 7), clear(5))
    assert not journal.books.optimizer(1).lost_tails


@pytest.mark.parametrize("owner", [1, None], ids=["by the optimizer", "by the model"])
def test_effective_clearings_are_counted_for_the_optimizer(owner: int | None) -> None:
    journal = booked(*opened(1), clear(5, owner=owner), backward(3), step(4), clear(5, owner=owner))
    assert journal.books.optimizer(1).cleared == 1
    tally = journal.books.clears[at(5)]
    assert (tally.calls, tally.effective) == (2, 1)


def test_measured_losses_make_a_measured_window_only_when_all_passes_were() -> None:
    loss = ev.LossMeasured(None, (1,), "mean", 0.5, 8)
    journal = booked(*opened(1), backward(3), loss, backward(3), loss, step(4), clear(5))
    journal.post_all([backward(3), backward(3), loss, step(4), clear(5)])
    (measured,) = journal.books.optimizer(1).measured
    assert (measured.step, measured.losses) == (1, (loss, loss))


def test_a_clip_is_used_by_a_step_of_its_parameters_even_by_hand() -> None:
    clip = ev.GradientsClipped(at(6), (2,))
    journal = booked(*opened(1, 2), backward(3, 1, 2), clip, step(7, 2, optimizer=None), step(8, 1))
    book = journal.books.clips[clip]
    assert (book.calls, book.used, book.missed, book.pending) == (1, 1, False, False)


def test_an_update_of_others_by_hand_is_not_held_against_a_clip() -> None:
    clip = ev.GradientsClipped(at(6), (2,))
    book = booked(*opened(1, 2), backward(3, 1, 2), clip, step(7, 1, optimizer=None)).books.clips[clip]
    assert (book.pending, book.missed, book.others) == (True, False, {})


def test_a_step_that_was_skipped_settles_every_clip() -> None:
    clip = ev.GradientsClipped(at(6), (2,))
    skip = ev.StepSkipped(at(7), (1,), 1, 1)
    book = booked(*opened(1, 2), backward(3, 1, 2), clip, skip, step(8, 1)).books.clips[clip]
    assert (book.pending, book.missed, book.others) == (False, False, {})


def test_a_clip_that_no_step_uses_is_wasted() -> None:
    clip = ev.GradientsClipped(at(6), (2,))
    journal = booked(*opened(1, 2), *[backward(3, 1, 2), clip, step(8, 1)] * 3)
    book = journal.books.clips[clip]
    assert (book.calls, book.used, book.wasted) == (3, 0, 2)
    assert (book.pending, book.missed) == (True, True)
    assert book.others == {step(8, 1): 3}


def test_a_clip_of_what_is_applied_once_more_had_its_effect() -> None:
    clip = ev.GradientsClipped(at(6), (1,))
    late = booked(*opened(1), backward(3), step(4), clip).books.clips[clip]
    assert (late.idle, late.after_step, late.used) == (1, 1, 0)
    again = booked(*opened(1), backward(3), step(4), clip, step(7)).books.clips[clip]
    assert (again.idle, again.after_step, again.used) == (0, 0, 1)
    after = booked(*opened(1), backward(3), step(4), clip, backward(3), step(4)).books.clips[clip]
    assert (after.idle, after.after_step, after.used) == (1, 1, 1)


def test_a_line_remembers_only_so_many_sets_of_accounts() -> None:
    numbers = range(1, 71)
    tally = booked(*opened(*numbers), *(backward(3, number) for number in numbers)).books.passes[at(3)]
    assert (tally.count, len(tally.together), tally.accounts) == (70, 64, set(numbers))


def test_advances_are_counted_between_steps() -> None:
    built, advance = ev.SchedulerBuilt(at(2), 1, 1, "StepLR"), ev.SchedulerStepped(at(6), 1, 1)
    journal = booked(*opened(1), built, advance, *[backward(3), step(4), advance, backward(3), advance] * 3)
    book = journal.books.schedulers[1]
    assert (book.early, book.before_any_step) == (1, advance)
    assert dict(book.between_steps) == {1: 1, 2: 2}
    assert book.stepped[advance].count == 7


def test_advances_without_a_pass_between_count_as_one() -> None:
    built, advance = ev.SchedulerBuilt(at(2), 1, 1, "StepLR"), ev.SchedulerStepped(at(6), 1, 1)
    journal = booked(*opened(1), built, *[backward(3), step(4), advance, advance] * 3)
    assert dict(journal.books.schedulers[1].between_steps) == {0: 1, 1: 2}


def test_a_scheduler_announced_twice_is_counted_once() -> None:
    built, advance = ev.SchedulerBuilt(at(2), 1, 1, "StepLR"), ev.SchedulerStepped(at(6), 1, 1)
    journal = booked(*opened(1), built, replace(built, horizon=5), *[backward(3), step(4), advance] * 2)
    assert sum(journal.books.schedulers[1].between_steps.values()) == 2


def test_a_program_that_never_repeats_itself_is_forgotten_but_booked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KINDS_REMEMBERED", 5)
    clip = ev.GradientsClipped(at(6), (1,))
    journal = booked(*opened(1))
    for line in range(100):
        journal.post_all([backward(line), clip, step(4), clear(5)])
    books = journal.books
    assert len(journal._kinds) <= 8
    assert (books.steps, books.clips[clip].used, books.clears[at(5)].effective) == (100, 100, 100)
    assert books.unbalanced() == []


def test_the_end_is_noted() -> None:
    assert not booked().books.ended
    books = booked(ev.RunEnded(None, complete=False)).books
    assert (books.ended, books.complete) == (True, False)
