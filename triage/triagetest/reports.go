package triagetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/triage"
)

// RunReports is the conformance suite of triage.Reports. newStore returns an empty store and its transactions.
func RunReports(t *testing.T, newStore func(t *testing.T) (triage.Store, callwright.Atomic)) {
	t.Helper()
	run(t, "reports", newStore, map[string]func(*testing.T, subject){
		"points by compare-and-set":      pointsReports,
		"points to no absent issue":      pointsToNoOrphan,
		"points for one of many":         pointsReportsAtOnce,
		"keeps organizations apart":      keepsReportsApart,
		"keeps keys as they are written": keepsReportKeys,
		"moves all of an issue":          movesReports,
		"rolls back":                     rollsBackReports,
	})
}

// wantReports checks that a key points at the issue want, or at no issue if want is empty.
func (s subject) wantReports(t *testing.T, org callwright.OrgID, key, want string) {
	t.Helper()
	got, err := s.ReportedIssue(t.Context(), org, key)
	if want == "" && errors.Is(err, callwright.ErrNotFound) {
		err = nil
	} else if want == "" {
		err = fmt.Errorf("got %w, want not found", err)
	}
	if err != nil || got != want {
		t.Errorf("the reports %q of %s come to %q, %v; want %q", key, org, got, err, want)
	}
}

func (s subject) point(t *testing.T, org callwright.OrgID, key, from, to string) {
	t.Helper()
	if err := s.PointReports(t.Context(), org, key, from, to); err != nil {
		t.Fatalf("point %q from %q to %q: %v", key, from, to, err)
	}
}

func pointsReports(t *testing.T, s subject) {
	s.wantReports(t, "a", "k", "")
	wantErr(t, callwright.ErrConflict, map[string]error{"from where none are": s.PointReports(t.Context(), "a", "k", "i1", "i2")})
	s.wantReports(t, "a", "k", "")
	s.point(t, "a", "k", "", "i1")
	s.wantReports(t, "a", "k", "i1")
	wantErr(t, callwright.ErrConflict, map[string]error{
		"as if none were": s.PointReports(t.Context(), "a", "k", "", "i2"),
		"from another":    s.PointReports(t.Context(), "a", "k", "i2", "i2"),
	})
	s.wantReports(t, "a", "k", "i1")
	s.point(t, "a", "k", "i1", "i2")
	s.wantReports(t, "a", "k", "i2")
	s.wantReports(t, "a", "other", "")
}

func pointsToNoOrphan(t *testing.T, s subject) {
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"an absent issue": s.PointReports(t.Context(), "a", "k", "", "i9"),
		"a foreign issue": s.PointReports(t.Context(), "a", "k", "", "j1"),
	})
	s.wantReports(t, "a", "k", "")
}

// pointsReportsAtOnce checks that only one of several concurrent writers succeeds in pointing a key at an issue. The key first points at no
// issue, and then at an existing one.
func pointsReportsAtOnce(t *testing.T, s subject) {
	target := func(round, writer int) string { return fmt.Sprintf("x%d%d", round, writer) }
	for n := range 16 {
		s.insertIssues(t, anIssue(target(n/8, n%8), 100+n))
	}
	first := callwrighttest.Race(t, func(writer int) error { return s.PointReports(t.Context(), "a", "k", "", target(0, writer)) })
	s.wantReports(t, "a", "k", target(0, first))
	second := callwrighttest.Race(t, func(writer int) error {
		return s.PointReports(t.Context(), "a", "k", target(0, first), target(1, writer))
	})
	s.wantReports(t, "a", "k", target(1, second))
}

func keepsReportsApart(t *testing.T, s subject) {
	s.point(t, "a", "k", "", "i1")
	s.wantReports(t, "b", "k", "")
	s.point(t, "b", "k", "", "j1")
	s.wantReports(t, "a", "k", "i1")
	s.wantReports(t, "b", "k", "j1")
	if err := s.MoveReports(t.Context(), "b", "i1", "j1"); err != nil {
		t.Fatal(err)
	}
	s.wantReports(t, "a", "k", "i1")
}

func keepsReportKeys(t *testing.T, s subject) {
	long := strings.Repeat("\u96ea", 200)
	for key, issue := range map[string]string{"a key": "i1", "A key": "i2", "akey": "i2", words: "i1", long: "i2", long + "x": "i1"} {
		s.point(t, "a", key, "", issue)
		defer s.wantReports(t, "a", key, issue)
	}
}

func movesReports(t *testing.T, s subject) {
	s.insertIssues(t, anIssue("i3", 3))
	for key, issue := range map[string]string{"k1": "i1", "k2": "i1", "k3": "i2", "k4": "i3"} {
		s.point(t, "a", key, "", issue)
	}
	if err := s.MoveReports(t.Context(), "a", "i1", "i2"); err != nil {
		t.Fatal(err)
	}
	for key, issue := range map[string]string{"k1": "i2", "k2": "i2", "k3": "i2", "k4": "i3"} {
		s.wantReports(t, "a", key, issue)
	}
	if err := s.MoveReports(t.Context(), "a", "i1", "i3"); err != nil { // i1 has no keys any more
		t.Fatal(err)
	}
	s.wantReports(t, "a", "k1", "i2")
}

func rollsBackReports(t *testing.T, s subject) {
	s.point(t, "a", "k1", "", "i1")
	s.rollBack(t, func(ctx context.Context) error {
		return errors.Join(s.PointReports(ctx, "a", "k2", "", "i1"), s.MoveReports(ctx, "a", "i1", "i2"))
	})
	s.wantReports(t, "a", "k1", "i1")
	s.wantReports(t, "a", "k2", "")
}
