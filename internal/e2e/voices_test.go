package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/engine/enginetest"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// TestStreamedVoices checks a call with each streamed voice against a server with the messages of its vendor. The first connection is lost
// in the first word. The phone hears each word of the greeting exactly once nevertheless, until the caller barges in: the transcript ends
// with the last word that the phone has heard. The next answer is spoken whole, in two pieces over the same connection.
func TestStreamedVoices(t *testing.T) {
	t.Parallel()
	const (
		hours = "Our rooms are open from eight in the morning until six in the evening on every day from Monday to Friday, and from nine " +
			"in the morning until noon on Saturday, and if you are in pain, then you may come at any time of the day without an appointment, but you " +
			"may have to wait for an hour or two until there is room, and you should bring a book and something warm to wear."
		yes = "Yes, of course."
		bye = "We are looking forward to it, goodbye."
		key = "key-4711"
	)
	ca := authority(t)
	for name, marks := range map[string]bool{"elevenlabs": true, "cartesia": true, "deepgram": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			voices := &enginetest.Voices{Key: key, Fault: enginetest.VoiceFaultClose, Times: 1}
			service := voices.Serve(t)
			board, flags := newSwitchboard(t, func(asked) []string {
				return []string{
					fmt.Sprintf(`{"role":"assistant","content":%q}`, yes+" "), fmt.Sprintf(`{"content":%q}`, bye),
					`{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"end_call","arguments":"{}"}}]}`,
				}
			})
			phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
			s := start(t, ca.CertFile(), append(flags, "--tts", name, "--tts-url", service.URL, "--tts-api-key", key, "--tts-voice", "v1")...)
			s.AttachOutbound(t, ours.String(), phone.Server())
			request := appointment()
			request.Task, request.FirstSentence, request.Voice = callsoas.NewOptString("Be kind."), callsoas.NewOptString(hours), callsoas.OptString{}
			id := s.Call(t, request)
			phone.Hears(t, 3*time.Second)
			board.hears(errand)
			phone.Say(t, speak(t, callerVoice, errand))
			r := s.Ended(t, id)

			said := lines(r, callsoas.TranscriptLineUserAssistant)
			heard := enginetest.TextOfSigns(phone.Heard(t).Samples)
			t.Logf("the transcript: %q; the phone heard: %q; %d connections", said, heard, voices.Connections())
			for _, l := range r.Transcripts {
				t.Logf("%s at %.2f to %.2f s, latency %+v", l.User, l.Start.Value, l.End.Value, l.Latency.Value)
			}
			first, rest, ok := strings.Cut(heard, yes)
			if len(said) != 2 || !r.Transcripts[0].Interrupted.Value || said[1] != yes+" "+bye || !ok || strings.TrimSpace(rest) != bye {
				t.Fatalf("the agent said %q, and the phone heard %q", said, heard)
			}
			if first = strings.TrimSpace(first); !strings.HasPrefix(hours, first) || len(first) < 20 {
				t.Errorf("the phone heard %q of %q", first, hours)
			}
			if words := strings.Fields(first); marks && !slices.Equal(strings.Fields(said[0]), words[:len(strings.Fields(said[0]))]) || len(words)-len(strings.Fields(said[0])) > 1 {
				t.Errorf("the transcript has %q, and the phone heard %q", said[0], first)
			}
			if n := voices.Connections(); n != 2 {
				t.Errorf("%d connections", n)
			}
		})
	}
}
