package enginetest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/callwrighttest"
)

// Fault is a way in which services misbehave.
type Fault int

// The faults.
const (
	NoFault      Fault = iota
	Shrinks            // partial texts become shorter
	NoPartials         // the end of an utterance has no partial text before it
	Late               // a partial text follows the end of its utterance
	Doubles            // the end of an utterance arrives twice
	Novel              // there are messages of unknown types
	HugeMessage        // a message of 5 MiB
	ClosesInWord       // the session is closed in the middle of a word with the code 1011
)

// novel are messages that no client knows.
var novel = []string{
	`{"type":"Novelty","event":"novelty","message_type":"novelty","value":[1,2,{}]}`, `{}`, `[]`, `null`, `"text"`, `not JSON`, ``,
}

// before returns the messages before a partial text.
func (f Fault) before(d Dialect, u Said) []string {
	longer := u
	longer.Text += " and other words"
	switch f {
	case Shrinks:
		return d.Partial(longer)
	case Novel:
		return novel
	case HugeMessage:
		return []string{`{"type":"` + strings.Repeat("x", 5<<20) + `"}`}
	default:
		return nil
	}
}

// atEnd returns the messages at the end of an utterance, whose end is final.
func (f Fault) atEnd(d Dialect, u Said, final []string) []string {
	switch f {
	case Late:
		return append(final, d.Partial(u)...)
	case Doubles:
		return append(final, d.Final(u)...)
	case Novel:
		return append(append([]string{}, novel...), final...)
	default:
		return final
	}
}

// RunFaults checks that the client of a service that misbehaves returns the words of the utterances, or else an error if the session cannot
// continue. newClient starts an Engine with the given fault until the test ends, and returns its client. speak returns the audio of a text.
// The client's protocol tolerates the given faults except those in without, which it cannot detect.
func RunFaults(
	t *testing.T, newClient func(t *testing.T, f Fault, breaks func(session int, partial string) bool) conversation.Streamer,
	speak func(text string) (audio []int16, rate int), without ...Fault,
) {
	t.Helper()
	texts := []string{"Hello there.", "I have a question."}
	for f, name := range map[Fault]string{
		Shrinks: "shrinking partial texts", NoPartials: "no partial texts", Late: "a partial text after the end", Doubles: "ends twice", Novel: "unknown messages",
	} {
		callwrighttest.Sequential(t, name, func(t *testing.T) {
			if slices.Contains(without, f) {
				return
			}
			stream, write := openFaulty(t, newClient(t, f, nil), speak)
			for i, text := range texts {
				write(text)
				if got, err := finalOf(t, stream, i); err != nil || got != text {
					t.Errorf("%q is understood as %q, %v", text, got, err)
				}
			}
		})
	}
	for f, name := range map[Fault]string{HugeMessage: "a message of 5 MiB", ClosesInWord: "closes in a word"} {
		callwrighttest.Sequential(t, name, func(t *testing.T) {
			stream, write := openFaulty(t, newClient(t, f, func(_ int, partial string) bool { return f == ClosesInWord && len(partial) > 3 }), speak)
			callwrighttest.Soon(t, "the end of the session", func() {
				write(texts[1])
				_, err := finalOf(t, stream, 0)
				if callwright.CodeOf(err) != callwright.CodeUnavailable {
					t.Errorf("error %v", err)
				}
				if f == ClosesInWord && !strings.Contains(err.Error(), "1011") {
					t.Errorf("error %v does not contain the close code", err)
				}
			})
		})
	}
}

// openFaulty opens a session, and returns it with a function that writes an utterance.
func openFaulty(t *testing.T, with conversation.Streamer, speak func(string) ([]int16, int)) (conversation.Stream, func(text string)) {
	t.Helper()
	_, rate := speak("")
	stream, err := with.Open(t.Context(), conversation.Hearing{Rate: rate, Language: "en-US"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stream.Close() })
	return stream, func(text string) {
		audio, _ := speak(text)
		_ = errors.Join(stream.Write(audio), stream.Force()) // Next returns the error of an ended session, too
	}
}

// finalOf returns the final text of an utterance.
func finalOf(t *testing.T, stream conversation.Stream, number int) (string, error) {
	t.Helper()
	for {
		h, err := stream.Next(t.Context())
		if err != nil || h.Final {
			if err == nil && h.Utterance != number {
				t.Errorf("utterance %d ends instead of %d", h.Utterance, number)
			}
			return h.Text, err
		}
	}
}
