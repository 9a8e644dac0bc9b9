package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// TestSlowNumber calls the softphone, whose user says "okay" over a text, and then reads a telephone number in groups with pauses. The text
// must go on, and the number must be one turn with all digits.
func TestSlowNumber(t *testing.T) {
	t.Parallel()
	const (
		text   = "Our rooms are open from eight in the morning until six in the evening. Please tell me your telephone number, digit by digit."
		digits = "4155550123"
	)
	s := start(t, "")
	// A busy machine recognizes the "okay" late, so the agent is silent for up to 3 s.
	phone, endpoint := s.Softphone(t, "--pause", "4s", "--over", "2s okay", "--say", "four one five [900ms] five five five [900ms] zero one two three")
	s.AttachOutbound(t, ours.String(), endpoint)
	request := appointment()
	request.Task, request.FirstSentence = callsoas.OptString{}, callsoas.OptString{}
	request.PathwayID = callsoas.NewOptString(s.Publish(t, graph.Document{
		Nodes: raw(`{"id":"ask","type":"Default","data":{"isStart":true,"text":"`+text+`",
				"extractVars":[["phone","string","the caller's telephone number, 10 digits"]]}}`,
			`{"id":"bye","type":"End Call","data":{"text":"Your number is {{phone}}. Goodbye."}}`),
		Edges: raw(`{"id":"e","source":"ask","target":"bye","data":{"label":"phone is known"}}`),
	}))
	request.MaxEndpointingDelay = callsoas.NewOptFloat64(10_000) // the same for the number
	r := s.Ended(t, s.Call(t, request))
	said := lines(r, callsoas.TranscriptLineUserAssistant)
	if len(said) != 2 || said[0] != text || said[1] != "Your number is "+digits+". Goodbye." {
		t.Errorf("the agent said %q", said)
	}
	var turns, overlaps []callsoas.TranscriptLine
	for _, l := range r.Transcripts {
		t.Logf("%s %q at %.2f to %.2f s, turn %d, waited %+v, held %+v", l.User, l.Text, l.Start.Value, l.End.Value, l.Turn.Value, l.Waited.Value, l.Held)
		switch {
		case l.User == callsoas.TranscriptLineUserUser && l.Turn.Set:
			turns = append(turns, l)
		case l.User == callsoas.TranscriptLineUserUser:
			overlaps = append(overlaps, l)
		case l.Text == text && (len(l.Held) != 1 || l.Held[0].Why != callsoas.CallHoldWhyBackchannel && l.Held[0].Why != callsoas.CallHoldWhyTimeout):
			t.Errorf("the text was held: %+v", l.Held)
		}
	}
	if len(overlaps) != 1 || overlaps[0].Text != "okay" {
		t.Errorf("over the text, the caller said %+v", overlaps)
	}
	if len(turns) != 1 || expect.DigitsIn("en", turns[0].Text) != digits || turns[0].Waited.Value.Why.Value != "answered" {
		t.Errorf("the caller's turns are %+v", turns)
	}
	if c := r.Conversation.Value; c.Turns != 1 || c.TurnsCut != 0 || c.Interrupted != 0 || c.Resumed != 1 {
		t.Errorf("the conversation is summarized as %+v", c)
	}
	if log := phone.Log(); !strings.Contains(log, "AES_CM_128_HMAC_SHA1_80, TLS 1.3") {
		t.Errorf("the softphone says %s", log)
	}
	_, right := s.Recording(t, r.CallID)
	checkSaid(t, right, agentVoice, "Our rooms are open from eight in the morning", "Please tell me your telephone number, digit by digit.")
}

// raw returns the nodes or edges of a pathway.
func raw(texts ...string) (out []json.RawMessage) {
	for _, text := range texts {
		out = append(out, json.RawMessage(text))
	}
	return out
}
