package call_test

import (
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

// TestSweepKeepsSpokenLine checks that the transcript of a dead node's call ends with the words that the agent was speaking, once, although
// the sweep runs again and again.
func TestSweepKeepsSpokenLine(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		dead := call.Call{
			ID: "dead", Org: "a", Queue: call.QueueStarted, Node: "n0", CreatedAt: now, StartedAt: &now, TakenAt: now,
		}
		line := call.Entry{Seq: 1, Speaker: call.SpeakerUser, Text: "hello", CreatedAt: now.Add(3 * time.Second)}
		spoken := call.Entry{Speaker: call.SpeakerAssistant, Text: "We are", Start: 4 * time.Second, End: 5 * time.Second, CreatedAt: now.Add(5 * time.Second)}
		if err := errors.Join(
			h.calls.Insert(t.Context(), dead), h.calls.Append(t.Context(), "a", "dead", line), h.calls.Speak(t.Context(), "a", "dead", spoken),
		); err != nil {
			t.Fatal(err)
		}
		got, _ := h.ended("dead")
		time.Sleep(time.Minute)
		lines, err := h.calls.Transcript(t.Context(), "a", "dead")
		spoken.Seq = 2
		if err != nil || !reflect.DeepEqual(lines, []call.Entry{line, spoken}) || !got.EndedAt.Equal(spoken.CreatedAt) {
			t.Errorf("ended at %s, the transcript is %+v, %v", got.EndedAt, lines, err)
		}
	})
}

// TestSpokenLineIsStored checks that the words of a long answer are in the store while the agent speaks, and that its line replaces them.
func TestSpokenLineIsStored(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		const long = "we are open from nine until five on every day of the week except on sundays and holidays"
		c := h.create(agents.Agent{FirstSentence: long})
		phone := h.answered()
		h.hears(phone, "on every day")
		synctest.Wait()
		if e, ok, err := h.calls.Spoken(t.Context(), "a", c.ID); err != nil || !ok || !strings.HasPrefix(e.Text, "we are") || !strings.HasPrefix(long, e.Text) || e.Speaker != call.SpeakerAssistant || e.CreatedAt.IsZero() {
			t.Errorf("spoken %+v, %t, %v", e, ok, err)
		}
		h.hears(phone, "holidays")
		waitFor(5 * time.Second)
		phone.Hangup()
		_, lines := h.ended(c.ID)
		if e, ok, err := h.calls.Spoken(t.Context(), "a", c.ID); err != nil || ok || len(lines) != 1 || lines[0].Text != long {
			t.Errorf("spoken %+v, %t, %v; transcript %+v", e, ok, err, lines)
		}
	})
}

// TestUnrecognizedWords checks that the record of a call has the words that the recognizer failed to recognize as lines, counts them, and
// that the error message says so.
func TestUnrecognizedWords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failures := 0
		h := newHouse(t, 0, agentstest.PhoneConfig{}, func(c *call.Config) {
			c.Recognizer = &agentstest.Recognizer{Fail: func(string) error {
				if failures++; failures > 2 {
					return nil
				}
				return io.ErrUnexpectedEOF
			}}
		})
		defer h.stop()
		c := h.create(agents.Agent{FirstSentence: "hello"})
		phone := h.answered()
		h.hears(phone, "hello")
		h.says(phone, "what about it")
		waitFor(5 * time.Second)
		h.says(phone, "are you there")
		waitFor(5 * time.Second)
		phone.Hangup()
		got, lines := h.ended(c.ID)
		failed := slices.IndexFunc(lines, func(e call.Entry) bool { return e.Unrecognized != "" })
		if failed != 1 || lines[1].Unrecognized != conversation.UnrecognizedError || lines[1].Words() != call.Unintelligible || lines[1].Speaker != call.SpeakerUser {
			t.Errorf("transcript %+v", lines)
		}
		if got.Status != call.StatusCompleted || got.ErrorMessage != "words of the other side were not recognized once" || call.Summarize(lines).Unrecognized != 1 {
			t.Errorf("record %+v", got)
		}
	})
}
