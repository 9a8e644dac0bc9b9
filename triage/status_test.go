package triage_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

func TestStatusMoves(t *testing.T) {
	t.Parallel()
	type move struct {
		from  triage.Status
		event triage.Event
	}
	possible := map[move]triage.Status{
		{triage.StatusBacklog, triage.EventAccept}:   triage.StatusTodo,
		{triage.StatusBacklog, triage.EventDecline}:  triage.StatusClosed,
		{triage.StatusBacklog, triage.EventMerge}:    triage.StatusClosed,
		{triage.StatusTodo, triage.EventMerge}:       triage.StatusClosed,
		{triage.StatusInProgress, triage.EventMerge}: triage.StatusClosed,
		{triage.StatusInReview, triage.EventMerge}:   triage.StatusClosed,
		{triage.StatusDone, triage.EventMerge}:       triage.StatusClosed,
		{triage.StatusClosed, triage.EventMerge}:     triage.StatusClosed,
	}
	for _, from := range append(triage.Statuses(), "", "open") {
		for _, event := range []triage.Event{triage.EventAccept, triage.EventDecline, triage.EventMerge, "", "reopen"} {
			to, err := from.Move(event)
			want, ok := possible[move{from, event}]
			if to != want || ok != (err == nil) || !ok && !errors.Is(err, callwright.ErrInvalidState) {
				t.Errorf("%q by %q goes to %q, %v; want %q", from, event, to, err, want)
			}
		}
	}
	for _, s := range triage.Statuses() {
		if s.Open() == slices.Contains([]triage.Status{triage.StatusDone, triage.StatusClosed}, s) {
			t.Errorf("%s: open is %t", s, s.Open())
		}
	}
}

func TestSessionMoves(t *testing.T) {
	t.Parallel()
	const (
		pending, active, awaits     = triage.SessionPending, triage.SessionActive, triage.SessionAwaitingInput
		complete, failed, cancelled = triage.SessionComplete, triage.SessionError, triage.SessionCancelled
	)
	possible := map[triage.SessionStatus][]triage.SessionStatus{
		pending:   {pending, active, awaits, complete, failed, cancelled},
		active:    {active, awaits, complete, failed, cancelled},
		awaits:    {active, awaits, complete, failed, cancelled},
		complete:  nil,
		failed:    nil,
		cancelled: nil,
		"unknown": nil,
	}
	if all := triage.SessionStatuses(); len(all) != 6 {
		t.Errorf("the states are %v", all)
	}
	for from, want := range possible {
		for _, to := range append(triage.SessionStatuses(), "", "unknown") {
			if got := from.May(to); got != slices.Contains(want, to) {
				t.Errorf("from %q to %q: %t", from, to, got)
			}
		}
		if from.Ended() != (want == nil) || from.Working() != (from == pending || from == active) {
			t.Errorf("%q: ended %t, working %t", from, from.Ended(), from.Working())
		}
	}
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, from := range triage.Statuses() {
		for _, accept := range []bool{true, false} {
			i := h.issue(triage.Draft{Status: from})
			decide, told, to := h.Decline, triage.TypeDeclined, triage.StatusClosed
			if accept {
				decide, told, to = h.Accept, triage.TypeAccepted, triage.StatusTodo
			}
			got, err := decide(t.Context(), "acme", bob, i.ID, "Because.")
			if from != triage.StatusBacklog {
				wantError(t, err, callwright.CodeInvalidState, "")
				if h.get(i.ID) != i {
					t.Errorf("a decision that was refused made %+v of %+v", h.get(i.ID), i)
				}
				continue
			}
			if err != nil || got.Status != to || got.Version != 2 || h.get(i.ID) != got {
				t.Errorf("%s made %+v, %v", told, got, err)
			}
			e := h.feed(i.ID)[1]
			if e.Type != told || e.Actor != bob || e.Detail != "Because." || e.FromStatus != from || e.ToStatus != to {
				t.Errorf("%s told %+v", told, e)
			}
		}
	}
}

func TestDecisionsNeedReasons(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	_, err := h.Decline(t.Context(), "acme", ada, i.ID, " \n")
	wantError(t, err, callwright.CodeBadRequest, "detail")
	long := string(make([]byte, triage.MaxDetail+1))
	_, err = h.Accept(t.Context(), "acme", ada, i.ID, long)
	wantError(t, err, callwright.CodeBadRequest, "detail")
	if _, err = h.Accept(t.Context(), "acme", ada, i.ID, ""); err != nil {
		t.Errorf("accepting needs no reason: %v", err)
	}
}
