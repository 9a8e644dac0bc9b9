package deepgram

import (
	"encoding/json"
	"sync/atomic"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/speech/pcm"
)

// segments is the protocol of listen v1. A Results message is about a segment; several segments may belong to an utterance.
type segments struct {
	ends session.Ends
	last float64 // time in the session up to which the words are final, in seconds
}

// Audio returns mu-law.
func (s *segments) Audio(dst []byte, samples []int16) session.Message {
	s.ends.Send(len(samples))
	return session.Message{Data: pcm.AppendMuLaw(dst, samples)}
}

// Force asks for the text of all audio so far.
func (s *segments) Force() []session.Message {
	s.ends.End()
	return []session.Message{session.Text(`{"type":"Finalize"}`)}
}

// Tune returns nil, because keyterms belong to the session.
func (*segments) Tune(conversation.Hearing) []session.Message { return nil }

// Idle returns a message without which the service closes the session.
func (*segments) Idle() []session.Message {
	return []session.Message{session.Text(`{"type":"KeepAlive"}`)}
}

// Receive parses a message of the service.
func (s *segments) Receive(m session.Message) ([]session.Event, error) {
	var r struct {
		Type     string  `json:"type"`
		IsFinal  bool    `json:"is_final"`
		Finalize bool    `json:"from_finalize"`
		Start    float64 `json:"start"`
		Duration float64 `json:"duration"`
		Channel  struct {
			Alternatives []struct {
				Transcript string  `json:"transcript"`
				Confidence float64 `json:"confidence"`
			} `json:"alternatives"`
		} `json:"channel"`
	}
	if !m.Text || json.Unmarshal(m.Data, &r) != nil {
		return nil, nil //nolint:nilerr // unknown messages are no error
	}
	switch r.Type {
	case "Results":
		if r.Start < s.last-overlap {
			return nil, nil // about words that are final
		}
		if r.IsFinal {
			s.last = r.Start + r.Duration
		}
		before := s.ends.Pass(r.Start * rate)
		e := session.Event{Segment: r.IsFinal, Done: s.ends.Answer(r.Finalize)}
		if len(r.Channel.Alternatives) > 0 {
			e.Text, e.Confidence = r.Channel.Alternatives[0].Transcript, r.Channel.Alternatives[0].Confidence
		}
		return append(before, e), nil
	case "Error":
		return nil, errService
	default:
		return nil, nil
	}
}

// overlap is the tolerance of the times of segments, in seconds.
const overlap = 0.01

// errService reports an error message of the service, without its text, which can quote the request.
var errService = callwright.Errorf(callwright.CodeUnavailable, "the speech service ended the session with an error")

// turns is the protocol of listen v2. A TurnInfo message is about a turn; several turns may belong to an utterance.
type turns struct {
	ends  session.Ends
	quiet *atomic.Bool // whether the service has refused ForceEndTurn
	next  int          // lowest number of a turn that has not ended
}

// Audio returns mu-law.
func (t *turns) Audio(dst []byte, samples []int16) session.Message {
	t.ends.Send(len(samples))
	return session.Message{Data: pcm.AppendMuLaw(dst, samples)}
}

// Force ends the turn: by a message that the service accepts on some deployments only, or else by silence.
func (t *turns) Force() []session.Message {
	t.ends.End()
	if t.quiet.Load() {
		t.ends.Send(len(pause))
		return []session.Message{{Data: pause}}
	}
	return []session.Message{session.Text(`{"type":"ForceEndTurn"}`)}
}

// Tune changes the keyterms.
func (*turns) Tune(h conversation.Hearing) []session.Message {
	data, err := json.Marshal(map[string]any{"type": "Configure", "keyterms": append([]string{}, keyterms(h)...)})
	if err != nil {
		return nil
	}
	return []session.Message{{Text: true, Data: data}}
}

// Silence in mu-law: 20 ms, and a pause after which the service judges that a turn is over.
var (
	silence = pcm.AppendMuLaw(nil, make([]int16, rate/50))
	pause   = pcm.AppendMuLaw(nil, make([]int16, rate))
)

// Idle returns silence, because the protocol has no other message that keeps a session alive.
func (t *turns) Idle() []session.Message {
	t.ends.Send(len(silence))
	return []session.Message{{Data: silence}}
}

// Receive parses a message of the service.
func (t *turns) Receive(m session.Message) ([]session.Event, error) {
	var r struct {
		Type       string  `json:"type"`
		Code       string  `json:"code"`
		Event      string  `json:"event"`
		Turn       int     `json:"turn_index"`
		Transcript string  `json:"transcript"`
		Start      float64 `json:"audio_window_start"`
		EndOfTurn  float64 `json:"end_of_turn_confidence"`
		Words      []struct {
			Confidence float64 `json:"confidence"`
		} `json:"words"`
	}
	if !m.Text || json.Unmarshal(m.Data, &r) != nil {
		return nil, nil //nolint:nilerr // unknown messages are no error
	}
	if r.Type == "Error" {
		t.quiet.Store(t.quiet.Load() || r.Code == unparsable)
		return nil, errService
	}
	if r.Type != "TurnInfo" || r.Turn < t.next {
		return nil, nil
	}
	e := session.Event{Text: r.Transcript, EndOfTurn: r.EndOfTurn}
	for _, w := range r.Words {
		e.Confidence += w.Confidence / float64(len(r.Words))
	}
	before := t.ends.Pass(r.Start * rate)
	switch r.Event {
	case "StartOfTurn", "Update", "EagerEndOfTurn":
	case "TurnResumed":
		e.EndOfTurn = 0
	case "EndOfTurn":
		e.Segment, e.Over, e.Done = true, true, t.ends.Answer(true)
		t.next = r.Turn + 1
	default:
		return before, nil
	}
	return append(before, e), nil
}

// unparsable is the code with which the service refuses a message that it does not accept.
const unparsable = "UNPARSABLE_CLIENT_MESSAGE"
