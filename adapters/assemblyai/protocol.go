package assemblyai

import (
	"encoding/json"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/engine/session"
	"github.com/callwright/callwright/speech/pcm"
)

// turns is the protocol of a session. A Turn message is about a turn; several turns may belong to an utterance.
type turns struct {
	ends session.Ends
	next int // lowest number of a turn that has not ended
}

// Audio returns mu-law.
func (t *turns) Audio(dst []byte, samples []int16) session.Message {
	t.ends.Send(len(samples))
	return session.Message{Data: pcm.AppendMuLaw(dst, samples)}
}

// Force ends the turn.
func (t *turns) Force() []session.Message {
	t.ends.End()
	return []session.Message{session.Text(`{"type":"ForceEndpoint"}`)}
}

// Tune changes the keyterms.
func (*turns) Tune(h conversation.Hearing) []session.Message {
	data, err := json.Marshal(map[string]any{"type": "UpdateConfiguration", "keyterms_prompt": append([]string{}, keyterms(h)...)})
	if err != nil {
		return nil
	}
	return []session.Message{{Text: true, Data: data}}
}

// Idle returns the message that keeps a session alive.
func (*turns) Idle() []session.Message {
	return []session.Message{session.Text(`{"type":"KeepAlive"}`)}
}

// Receive parses a message of the service.
func (t *turns) Receive(m session.Message) ([]session.Event, error) {
	var r struct {
		Type       string  `json:"type"`
		Turn       int     `json:"turn_order"`
		End        bool    `json:"end_of_turn"`
		Transcript string  `json:"transcript"`
		EndOfTurn  float64 `json:"end_of_turn_confidence"`
		Words      []struct {
			Start      float64 `json:"start"` // in milliseconds
			Confidence float64 `json:"confidence"`
			Final      bool    `json:"word_is_final"`
		} `json:"words"`
	}
	if !m.Text || json.Unmarshal(m.Data, &r) != nil {
		return nil, nil //nolint:nilerr // unknown messages are no error
	}
	switch {
	case r.Type == "Error":
		return nil, errService
	case r.Type != "Turn" || r.Turn < t.next: // a turn that has ended arrives once more with another format
		return nil, nil
	}
	e := session.Event{Text: r.Transcript, EndOfTurn: r.EndOfTurn, Segment: r.End, Over: r.End}
	var before []session.Event
	for i, w := range r.Words {
		e.Confidence += w.Confidence / float64(len(r.Words))
		if w.Final && e.Stable == i {
			e.Stable = i + 1
		}
	}
	if len(r.Words) > 0 {
		before = t.ends.Pass(r.Words[0].Start * rate / 1000)
	}
	if r.End {
		t.next = r.Turn + 1
		e.Done = t.ends.Answer(true)
	}
	return append(before, e), nil
}

// errService reports an error message of the service, without its text, which can quote the request.
var errService = callwright.Errorf(callwright.CodeUnavailable, "the speech service ended the session with an error")
