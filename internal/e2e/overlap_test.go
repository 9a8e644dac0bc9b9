package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// directions are the sentences that an agent reads to every caller, whatever the caller says first. They last about 18 s.
var directions = []string{
	"Our rooms are open from eight in the morning until six in the evening on every day from Monday to Friday.",
	"You can find us in the second house behind the station, on the left side of the street that leads to the river.",
	"Please bring the letter of your doctor with you, and be here ten minutes before the time of your appointment.",
}

const (
	interruption    = "Wait, stop please, I have a question."
	counterQuestion = "What is your question?"
)

// overDirections starts a call in which the agent reads the directions, and lets the caller say something 8 s later, in the second sentence.
func overDirections(t *testing.T, sound pcm.Audio) (*baresip.Phone, *server.Server, string) {
	t.Helper()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile())
	s.AttachOutbound(t, ours.String(), phone.Server())
	request := appointment()
	request.Task = callsoas.NewOptString(`Tell the caller how to find us.
when "okay": say "` + elsewhere + `"
when "wait stop please i have a question" or "stop" or "a question": say "` + counterQuestion + `"
otherwise: say "` + strings.Join(directions, " ") + `"`)
	id := s.Call(t, request)
	says(t, s, id, greeting)
	phone.Say(t, speak(t, callerVoice, errand))
	s.Until(t, id, "to hear the caller", func(r *callsoas.CallRecord) bool {
		return len(lines(r, callsoas.TranscriptLineUserUser)) > 0
	})
	phone.HearsMore(t, 8*time.Second)
	phone.Say(t, sound)
	return phone, s, id
}

// TestSpokenThrough checks that an acknowledgement and a cough do not make the agent lose or repeat its text. The cough does not even
// hold the agent, because it is not a voice.
func TestSpokenThrough(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sound pcm.Audio
		said  []string               // lines of the caller after the first one
		why   []callsoas.CallHoldWhy // possible reasons for the end of the hold, as a slow machine recognizes nothing in time; nil means no hold
	}{
		"acknowledgement": {speak(t, callerVoice, "Okay."), []string{"okay"}, []callsoas.CallHoldWhy{"backchannel", "timeout"}},
		"cough":           {cough(), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			phone, s, id := overDirections(t, c.sound)
			whole := strings.Join(directions, " ")
			says(t, s, id, whole)
			phone.HearsMore(t, time.Second)
			phone.Hangup(t)
			r := s.Ended(t, id)
			if said := lines(r, callsoas.TranscriptLineUserAssistant); len(said) != 2 || said[1] != whole {
				t.Errorf("the agent said %q", said)
			}
			if s, ok := r.Conversation.Get(); !ok || s.Turns == 0 || s.Interrupted != 0 || s.Latency.Null || s.Latency.Value.P95.PlayingMs.Null {
				t.Errorf("the conversation is summarized as %+v", s)
			}
			for _, l := range r.Transcripts {
				if l.User == callsoas.TranscriptLineUserUser {
					t.Logf("%q: turn %d, waited %+v", l.Text, l.Turn.Value, l.Waited.Value)
				}
				if l.Interrupted.Value {
					t.Errorf("%q was interrupted", l.Text)
				}
				if l.Text != whole {
					continue
				}
				t.Logf("held: %+v", l.Held)
				if len(l.Held) != min(len(c.why), 1) || len(l.Held) == 1 && !slices.Contains(c.why, l.Held[0].Why) {
					t.Errorf("held: %+v", l.Held)
				}
			}
			said := lines(r, callsoas.TranscriptLineUserUser)
			if got, want := strings.Join(said[1:], "\n"), strings.Join(c.said, "\n"); got != want {
				t.Errorf("over the text, the caller said %q, want %q", got, want)
			}
			_, right := s.Recording(t, id)
			for name, heard := range map[string]pcm.Audio{"the phone": phone.Heard(t), "the recording": right} {
				checkOnce(t, name, heard)
			}
		})
	}
}

// TestNoiseOverText has a caller make a sound without words while the agent reads the directions. The agent must pause, and then continue at
// the word.
func TestNoiseOverText(t *testing.T) {
	t.Parallel()
	whole := strings.Join(directions, " ")
	_, flags := newSwitchboard(t, func(asked) []string { return []string{fmt.Sprintf(`{"role":"assistant","content":%q}`, whole)} })
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile(), flags...)
	s.AttachOutbound(t, ours.String(), phone.Server())
	request := appointment()
	request.Task, request.FirstSentence = callsoas.NewOptString("Be kind."), callsoas.OptString{}
	id := s.Call(t, request)
	phone.Await(t, "CALL_ESTABLISHED", 1)
	phone.HearsMore(t, 8*time.Second)
	phone.Say(t, speak(t, callerVoice, "Oh my.")) // the service recognizes no words in it
	says(t, s, id, whole)
	phone.HearsMore(t, time.Second)
	phone.Hangup(t)
	r := s.Ended(t, id)
	if len(r.Transcripts) != 1 || len(r.Transcripts[0].Held) != 1 || r.Transcripts[0].Held[0].Why != callsoas.CallHoldWhyNoise || r.Transcripts[0].Interrupted.Value {
		t.Fatalf("the transcript is %+v", r.Transcripts)
	}
	t.Logf("held: %+v", r.Transcripts[0].Held)
	if c := r.Conversation.Value; c.Turns != 0 || c.Interrupted != 0 || c.Resumed != 1 {
		t.Errorf("the conversation is summarized as %+v", c)
	}
	_, right := s.Recording(t, id)
	for name, heard := range map[string]pcm.Audio{"the phone": phone.Heard(t), "the recording": right} {
		checkOnce(t, name, heard)
	}
}

// TestQuestionInText has a caller ask a question while the agent reads the text of a pathway's node. A global node answers it, and then the
// agent reads the rest of the text. It says no sentence again that the caller has heard.
func TestQuestionInText(t *testing.T) {
	t.Parallel()
	const price, bye = "The visit is free of charge.", "Goodbye then."
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile())
	s.AttachOutbound(t, ours.String(), phone.Server())
	request := appointment()
	request.Task, request.FirstSentence = callsoas.OptString{}, callsoas.OptString{}
	request.PathwayID = callsoas.NewOptString(s.Publish(t, graph.Document{
		Nodes: raw(fmt.Sprintf(`{"id":"way","type":"Default","data":{"isStart":true,"text":%q}}`, strings.Join(directions, " ")),
			fmt.Sprintf(`{"id":"price","type":"Default","data":{"isGlobal":true,"enableGlobalAutoReturn":true,"globalLabel":"the caller asks \"what does it cost\" or \"cost\"","text":%q}}`, price),
			fmt.Sprintf(`{"id":"bye","type":"End Call","data":{"text":%q}}`, bye)),
		Edges: raw(`{"id":"e","source":"way","target":"bye","data":{"label":"the caller says \"thank you very much\""}}`),
	}))
	id := s.Call(t, request)
	phone.Await(t, "CALL_ESTABLISHED", 1)
	phone.HearsMore(t, 8*time.Second)
	phone.Say(t, speak(t, callerVoice, "What does it cost?"))
	says(t, s, id, directions[2])
	phone.Say(t, speak(t, callerVoice, "Thank you very much."))
	r := s.Ended(t, id)
	said := lines(r, callsoas.TranscriptLineUserAssistant)
	t.Logf("the agent said %q, the caller %q", said, lines(r, callsoas.TranscriptLineUserUser))
	if len(said) != 3 || !strings.HasPrefix(said[1], price+" ") || said[2] != bye {
		t.Fatalf("the agent said %q", said)
	}
	heard, rest := strings.TrimRight(said[0], " .-–—…"), strings.TrimPrefix(said[1], price+" ")
	if !strings.HasPrefix(heard, directions[0]) || strings.Contains(rest, directions[0]) || !strings.HasSuffix(rest, directions[2]) {
		t.Errorf("the caller heard %q, and then %q", heard, rest)
	}
	if c := r.Conversation.Value; c.Turns != 2 || c.Interrupted != 1 {
		t.Errorf("the conversation is summarized as %+v", c)
	}
	_, right := s.Recording(t, id)
	for _, audio := range []pcm.Audio{phone.Heard(t), right} {
		checkSaid(t, audio, agentVoice, directions[0], price, directions[2], bye)
		first := find(t, speak(t, agentVoice, directions[0]), audio)
		checkNotSaid(t, pcm.Audio{Rate: audio.Rate, Channels: 1, Samples: audio.Samples[pcm.Samples(first.End, audio.Rate):]}, agentVoice, directions[0])
	}
}

// checkOnce checks that a recording contains the directions in order, and the first sentence only once.
func checkOnce(t *testing.T, name string, heard pcm.Audio) {
	t.Helper()
	checkSaid(t, heard, agentVoice, directions[0], directions[2])
	middle := speak(t, agentVoice, directions[1])
	for _, piece := range []pcm.Audio{share(middle, 0, 0.15), share(middle, 0.75, 1)} {
		if match := find(t, piece, heard); match.Distance >= pcm.SameSpeech {
			t.Errorf("%s does not contain the second sentence whole: distance %.2f", name, match.Distance)
		}
	}
	first := find(t, speak(t, agentVoice, directions[0]), heard)
	rest := pcm.Audio{Rate: heard.Rate, Channels: 1, Samples: heard.Samples[pcm.Samples(first.End, heard.Rate):]}
	checkNotSaid(t, rest, agentVoice, directions[0], elsewhere)
	last := find(t, speak(t, agentVoice, directions[2]), heard)
	pause := last.Offset - first.End - middle.Duration()
	t.Logf("%s: the second sentence lasts %v longer than without a hold", name, pause)
	if pause > 6*time.Second {
		t.Errorf("%s: the second sentence lasts %v longer than without a hold", name, pause)
	}
}

// cough returns a burst of noise of 250 ms.
func cough() pcm.Audio {
	r := rand.New(rand.NewPCG(1, 2))
	out := pcm.Audio{Rate: speechRate, Channels: 1, Samples: make([]int16, speechRate/4)}
	low := 0.0
	for i := range out.Samples {
		low += 0.3 * (r.NormFloat64() - low)
		out.Samples[i] = int16(max(-30000, min(30000, 14000*low*float64(len(out.Samples)-i)/float64(len(out.Samples)))))
	}
	return out
}

// TestInterruptedText checks that words of the caller cut a text that the agent speaks, that the agent answers these words, and that it
// never says the text again.
func TestInterruptedText(t *testing.T) {
	t.Parallel()
	phone, s, id := overDirections(t, speak(t, callerVoice, interruption))
	says(t, s, id, counterQuestion)
	phone.HearsMore(t, 5*time.Second)
	phone.Hangup(t)
	r := s.Ended(t, id)
	said := lines(r, callsoas.TranscriptLineUserAssistant)
	if len(said) != 3 || !strings.HasPrefix(strings.Join(directions, " "), strings.TrimRight(said[1], " .-–—…")) || said[2] != counterQuestion {
		t.Errorf("the agent said %q", said)
	}
	if heard := lines(r, callsoas.TranscriptLineUserUser); len(heard) != 2 || !strings.Contains(heard[1], "question") {
		t.Errorf("the caller said %q", heard)
	}
	_, right := s.Recording(t, id)
	for _, heard := range []pcm.Audio{phone.Heard(t), right} {
		checkSaid(t, heard, agentVoice, directions[0], counterQuestion)
		checkNotSaid(t, heard, agentVoice, directions[2], elsewhere)
		first := find(t, speak(t, agentVoice, directions[0]), heard)
		rest := pcm.Audio{Rate: heard.Rate, Channels: 1, Samples: heard.Samples[pcm.Samples(first.End, heard.Rate):]}
		checkNotSaid(t, rest, agentVoice, directions[0])
	}
}
