package deepgram

import (
	"encoding/json"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/speech/pcm"
)

func text(s string) session.Message { return session.Message{Text: true, Data: []byte(s)} }

// forces are the ends of utterances that the service has not answered. The service does not answer if it has heard nothing.
type forces struct {
	sent int   // number of samples that were sent
	ends []int // values of sent
}

// Audio returns mu-law.
func (f *forces) Audio(dst []byte, samples []int16) session.Message {
	f.sent += len(samples)
	return session.Message{Data: pcm.AppendMuLaw(dst, samples)}
}

// answered reports whether the service has answered the oldest end by a result.
func (f *forces) answered(answers bool) bool {
	if answers = answers && len(f.ends) > 0; answers {
		f.ends = f.ends[1:]
	}
	return answers
}

// passed returns an event for each end that the service has passed: a result about audio that begins later, in seconds, follows. Such an
// utterance has no further words.
func (f *forces) passed(start float64) (events []session.Event) {
	for len(f.ends) > 0 && start*rate > float64(f.ends[0]) {
		f.ends = f.ends[1:]
		events = append(events, session.Event{Done: true})
	}
	return events
}

// segments is the protocol of listen v1. A Results message is about a segment; several segments may belong to an utterance.
type segments struct{ forces }

// Force asks for the text of all audio so far.
func (s *segments) Force() []session.Message {
	s.ends = append(s.ends, s.sent)
	return []session.Message{text(`{"type":"Finalize"}`)}
}

// Tune returns nil, because keyterms belong to the session.
func (*segments) Tune(conversation.Hearing) []session.Message { return nil }

// Idle returns a message without which the service closes the session.
func (*segments) Idle() []session.Message { return []session.Message{text(`{"type":"KeepAlive"}`)} }

// Receive parses a message of the service.
func (s *segments) Receive(m session.Message) ([]session.Event, error) {
	var r struct {
		Type     string  `json:"type"`
		IsFinal  bool    `json:"is_final"`
		Finalize bool    `json:"from_finalize"`
		Start    float64 `json:"start"`
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
		before := s.passed(r.Start)
		e := session.Event{Segment: r.IsFinal, Done: s.answered(r.Finalize)}
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

// errService reports an error message of the service, without its text, which can quote the request.
var errService = callwright.Errorf(callwright.CodeUnavailable, "the speech service ended the session with an error")

// turns is the protocol of listen v2. A TurnInfo message is about a turn; several turns may belong to an utterance.
type turns struct{ forces }

// Force ends the turn.
func (t *turns) Force() []session.Message {
	t.ends = append(t.ends, t.sent)
	return []session.Message{text(`{"type":"ForceEndTurn"}`)}
}

// Tune changes the keyterms.
func (*turns) Tune(h conversation.Hearing) []session.Message {
	data, err := json.Marshal(map[string]any{"type": "Configure", "keyterms": append([]string{}, h.Keywords[:min(len(h.Keywords), maxKeyterms)]...)})
	if err != nil {
		return nil
	}
	return []session.Message{{Text: true, Data: data}}
}

// silence is 20 ms of silence in mu-law.
var silence = func() []byte { return pcm.AppendMuLaw(nil, make([]int16, rate/50)) }()

// Idle returns silence, because the protocol has no other message that keeps a session alive.
func (*turns) Idle() []session.Message { return []session.Message{{Data: silence}} }

// Receive parses a message of the service.
func (t *turns) Receive(m session.Message) ([]session.Event, error) {
	var r struct {
		Type       string  `json:"type"`
		Event      string  `json:"event"`
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
		return nil, errService
	}
	if r.Type != "TurnInfo" {
		return nil, nil
	}
	e := session.Event{Text: r.Transcript, EndOfTurn: r.EndOfTurn}
	for _, w := range r.Words {
		e.Confidence += w.Confidence / float64(len(r.Words))
	}
	before := t.passed(r.Start)
	switch r.Event {
	case "StartOfTurn", "Update", "EagerEndOfTurn":
	case "TurnResumed":
		e.EndOfTurn = 0
	case "EndOfTurn":
		e.Segment, e.Done = true, t.answered(true)
	default:
		return before, nil
	}
	return append(before, e), nil
}
