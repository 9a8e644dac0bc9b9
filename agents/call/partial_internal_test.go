package call

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
)

// transcripts accepts all lines.
type transcripts struct{ Store }

func (transcripts) Append(context.Context, callwright.OrgID, string, Entry) error { return nil }

// watched is a service that delivers observations to the function observe until the test ends.
func watched(t *testing.T, observe func(Observation)) *Service {
	t.Helper()
	s := &Service{
		cfg:      Config{Store: transcripts{}, Runtime: callwright.Runtime{Clock: callwright.SystemClock{}, Logger: slog.New(slog.DiscardHandler)}},
		observed: newObservations(observe),
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.observed.run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return s
}

// said returns a partial text of turn 1.
func said(text string) conversation.Partial { return conversation.Partial{Turn: 1, Text: text} }

// TestPartialRate checks that at most five texts of a call are delivered in a second, that the newest text is always among them, and that
// calls do not delay each other.
func TestPartialRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []string
		s := watched(t, func(o Observation) { got = append(got, o.Call.ID+" "+o.Partial.Text) })
		one := s.writeRecord(t.Context(), Call{ID: "one", Org: "a"}, s.cfg.Clock)
		two := s.writeRecord(t.Context(), Call{ID: "two", Org: "b"}, s.cfg.Clock)
		for i := range 100 { // a text every 10 ms
			one.Partial(said(fmt.Sprint("text ", i)))
			if i == 50 {
				two.Partial(said("hello"))
			}
			if i == 71 && !slices.Contains(got, "two hello") {
				t.Error("the call with many texts delays another one for 200 ms")
			}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(partialEvery)
		synctest.Wait()
		ones := 0
		for _, text := range got {
			if strings.HasPrefix(text, "one ") {
				ones++
			}
		}
		if ones != 6 || got[0] != "one text 0" || got[len(got)-1] != "one text 99" || len(got) != 7 {
			t.Errorf("delivered: %q", got)
		}
		one.close()
		two.close()
	})
}

// TestPartialsGiveWay checks that partial texts cost no line: while the observer is slow, all lines are delivered in order, and no text is
// delivered after the line that contains its words.
func TestPartialsGiveWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []string
		lost := 0
		s := watched(t, func(o Observation) {
			time.Sleep(time.Second)
			got, lost = append(got, fmt.Sprint(o.What, " ", o.Partial.Text, o.Line.Text)), lost+o.Missed
		})
		flood := make([]*recordWriter, 50) // of another organization
		for i := range flood {
			flood[i] = s.writeRecord(t.Context(), Call{ID: fmt.Sprint("flood ", i), Org: "b"}, s.cfg.Clock)
		}
		b := s.writeRecord(t.Context(), Call{ID: "one", Org: "a"}, s.cfg.Clock)
		for i := range maxObservations {
			for _, f := range flood {
				f.Partial(said(fmt.Sprint("flood ", i)))
			}
			b.Partial(said(fmt.Sprint("text ", i)))
			b.Entry(conversation.Entry{Role: conversation.RoleCaller, Turn: 1, Text: fmt.Sprint("line ", i)})
		}
		for _, f := range flood {
			f.close()
		}
		b.close()
		time.Sleep((maxObservations + 10) * time.Second)
		synctest.Wait()
		next := 0
		for _, text := range got {
			if text == fmt.Sprint("line line ", next) {
				next++
			} else if strings.HasPrefix(text, "line") || strings.HasPrefix(text, "partial text") {
				t.Fatalf("%q was delivered before line %d", text, next)
			}
		}
		if next < maxObservations-1 || next+lost < maxObservations { // the first delivery may be a text of the flood
			t.Errorf("%d lines were delivered, %d were lost", next, lost)
		}
	})
}

// TestPartialIsCurrent checks when Service.Partial returns a text: only to the call's organization, and until the line that contains the
// words, the answer to the turn, an empty text, or the end of the call.
func TestPartialIsCurrent(t *testing.T) {
	t.Parallel()
	for name, over := range map[string]func(b *recordWriter){
		"line": func(b *recordWriter) {
			b.Entry(conversation.Entry{Role: conversation.RoleCaller, Text: "hello", Turn: 1})
		},
		"answer": func(b *recordWriter) {
			b.Entry(conversation.Entry{Role: conversation.RoleAgent, Text: "hello", Turn: 1})
		},
		"empty": func(b *recordWriter) { b.Partial(said("")) },
		"end":   func(b *recordWriter) { b.close() },
	} {
		s := &Service{
			cfg:      Config{Store: transcripts{}, Runtime: callwright.Runtime{Clock: callwright.SystemClock{}, Logger: slog.New(slog.DiscardHandler)}},
			observed: newObservations(nil),
		}
		b := s.writeRecord(t.Context(), Call{ID: "one", Org: "a"}, s.cfg.Clock)
		b.Partial(said("he"))
		b.Partial(said("hello\x00" + strings.Repeat("o", maxPartial)))
		b.Entry(conversation.Entry{Role: conversation.RoleAgent, Text: "Good morning."})
		p, ok := s.Partial("a", "one")
		if !ok || !strings.HasPrefix(p.Text, "hello") || strings.Contains(p.Text, "\x00") || len(p.Text) > maxPartial+len("…") {
			t.Errorf("%s: got %.20q, %t", name, p.Text, ok)
		}
		if _, ok := s.Partial("b", "one"); ok {
			t.Errorf("%s: another organization sees the text", name)
		}
		over(b)
		if p, ok := s.Partial("a", "one"); ok {
			t.Errorf("%s: got %q", name, p.Text)
		}
		b.close()
		b.Partial(said("late"))
		if _, ok := s.Partial("a", "one"); ok || len(s.observed.partials.calls) != 0 {
			t.Errorf("%s: the text of an ended call is there", name)
		}
	}
}
