package triage_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/triage"
)

// TestAnalysisCancelled checks that a step is canceled within a second and writes nothing if another node cancels its session or merges its
// issue, even if the analyst ignores the cancellation.
func TestAnalysisCancelled(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(ctx context.Context, s *triage.Service, sess triage.Session) error{
		"cancelled": func(ctx context.Context, s *triage.Service, sess triage.Session) error {
			_, err := s.Cancel(ctx, "acme", bob, sess.IssueID, sess.ID, "enough")
			return err
		},
		"merged": func(ctx context.Context, s *triage.Service, sess triage.Session) error {
			into, err := s.Create(ctx, "acme", bob, triage.Draft{Title: "Another"})
			if err == nil {
				_, err = s.Merge(ctx, "acme", bob, sess.IssueID, into.ID)
			}
			return err
		},
	} {
		for _, ignores := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, ignored %t", name, ignores), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					memory := memstore.New()
					other := openOver(t, memory, systemClock)
					var sess triage.Session
					s := openStudyOver(t, memory, taking(func(ctx context.Context, _ triage.Case) (triage.Progress, error) {
						if err := end(t.Context(), other.Service, sess); err != nil {
							t.Error(err)
						}
						began := time.Now()
						if !ignores {
							<-ctx.Done()
						}
						if took := time.Since(began); took > time.Second {
							t.Errorf("it is cancelled after %s", took)
						}
						return thinks("hm", triage.SessionActive), nil
					}), systemClock)
					sess = s.analyze("")
					if err := s.step(t.Context(), sess, 0, 1); err == nil {
						t.Error("the step is done")
					}
					if err := s.step(t.Context(), sess, 0, 1); err != nil {
						t.Error(err)
					}
					s.wantTold(sess, triage.SessionCancelled, triage.TypeSessionStopped)
				})
			})
		}
	}
}

// TestAnalysisAsks checks that no task is queued and no time counts while an analysis waits for people, and that an answer continues it.
func TestAnalysisAsks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen []triage.Case
		s := openStudy(t, taking(func(_ context.Context, c triage.Case) (triage.Progress, error) {
			seen = append(seen, c)
			if len(c.Answers) > 0 {
				return thinks("I see", triage.SessionComplete), nil
			}
			time.Sleep(time.Second)
			return triage.Progress{
				Steps: []triage.Step{{Type: triage.TypeResponse, Detail: "Since when?"}}, State: json.RawMessage(`"asked"`),
				Next: triage.SessionAwaitingInput,
			}, nil
		}), systemClock)
		s.works()
		sess := s.analyze("")
		time.Sleep(6 * 24 * time.Hour)
		s.wantTold(sess, triage.SessionAwaitingInput, triage.TypeResponse)
		if len(seen) != 1 {
			t.Errorf("it was asked %d times", len(seen))
		}
		if e, err := s.Answer(t.Context(), "acme", bob, sess.IssueID, sess.ID, "Since Monday."); err != nil || e.Type != triage.TypePrompt {
			t.Fatalf("the answer is %+v, %v", e, err)
		}
		synctest.Wait()
		told := s.wantTold(sess, triage.SessionComplete, triage.TypeResponse, triage.TypePrompt, triage.TypeThought, triage.TypeSessionStopped)
		if told[3].Actor != bob || told[3].Session.Status != triage.SessionActive || len(seen) != 2 ||
			!slices.Equal(seen[1].Answers, []string{"Since Monday."}) || string(seen[1].State) != `"asked"` {
			t.Errorf("told is %+v, seen was %+v", told, seen)
		}
	})
}

// TestAnalysisIsInterrupted checks that a person's message during a step restarts the step, which is then written once.
func TestAnalysisIsInterrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen []triage.Case
		s := openStudy(t, taking(func(ctx context.Context, c triage.Case) (triage.Progress, error) {
			seen = append(seen, c)
			if len(c.Answers) == 0 {
				<-ctx.Done()
				return triage.Progress{}, ctx.Err()
			}
			return thinks("I see", triage.SessionComplete), nil
		}), systemClock)
		s.works()
		sess := s.analyze("")
		synctest.Wait()
		if _, err := s.Answer(t.Context(), "acme", bob, sess.IssueID, sess.ID, "By the way"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		s.wantTold(sess, triage.SessionComplete, triage.TypePrompt, triage.TypeThought, triage.TypeSessionStopped)
		if len(seen) != 2 || seen[1].Attempt != 1 {
			t.Errorf("seen was %+v", seen)
		}
	})
}

// TestAnalysisAnswers checks the limit of answers in an analysis.
func TestAnalysisAnswers(t *testing.T) {
	t.Parallel()
	s := openStudy(t, taking(nil))
	sess := s.analyze("")
	for range 20 {
		if _, err := s.Answer(t.Context(), "acme", bob, sess.IssueID, sess.ID, strings.Repeat("x", triage.MaxPrompt)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Answer(t.Context(), "acme", bob, sess.IssueID, sess.ID, "And")
	wantError(t, err, callwright.CodeInvalidState, "")
	if got := s.session(sess); len(got.Analysis.Answers) != 20 {
		t.Errorf("it was given %d answers", len(got.Analysis.Answers))
	}
}
