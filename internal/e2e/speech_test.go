package e2e_test

import (
	"errors"
	"io"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/flite"
	"github.com/callwright/callwright/adapters/pocketsphinx"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

// speechRate is the sample rate of the tests' speech, equal to the recognizer's rate.
const speechRate = 16000

// agentVoice and callerVoice are different voices, so that a test can distinguish the sides of a call.
const (
	agentVoice  = "slt"
	callerVoice = "rms"
)

// speak returns the audio of a text that a synthesizer's voice speaks.
func speak(t *testing.T, voice, text string) pcm.Audio {
	t.Helper()
	synthesizer, err := flite.New(flite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	stream, err := synthesizer.Synthesize(t.Context(), tts.Request{Text: text, Voice: voice, Rate: speechRate})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	audio := pcm.Audio{Rate: speechRate, Channels: 1}
	for piece := make([]int16, 4096); ; {
		n, err := stream.Read(piece)
		audio.Samples = append(audio.Samples, piece[:n]...)
		if errors.Is(err, io.EOF) {
			return audio
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// thinking serializes long computations, so that the other processors are free for calls in real time.
var thinking sync.Mutex

// find returns the best match of an utterance in a recording.
func find(t *testing.T, utterance, recording pcm.Audio) pcm.Match {
	t.Helper()
	thinking.Lock()
	defer thinking.Unlock()
	match, err := pcm.Compare(utterance.Samples, utterance.Rate, recording.Samples, recording.Rate)
	if err != nil {
		t.Fatal(err)
	}
	return match
}

// checkSaid checks that a voice speaks the sentences in a recording, in this order.
func checkSaid(t *testing.T, recording pcm.Audio, voice string, sentences ...string) {
	t.Helper()
	var last time.Duration
	for _, sentence := range sentences {
		match := find(t, speak(t, voice, sentence), recording)
		t.Logf("%q is at %v: distance %.2f", sentence, match.Offset, match.Distance)
		if match.Distance >= pcm.SameSpeech {
			t.Errorf("%q is not in the recording of %v: distance %.2f", sentence, recording.Duration(), match.Distance)
			continue
		}
		if match.Offset < last {
			t.Errorf("%q is at %v, before the end of what was said before it, %v", sentence, match.Offset, last)
		}
		last = match.Offset
	}
}

// checkNotSaid checks that a voice speaks none of the sentences in a recording.
func checkNotSaid(t *testing.T, recording pcm.Audio, voice string, sentences ...string) {
	t.Helper()
	for _, sentence := range sentences {
		match := find(t, speak(t, voice, sentence), recording)
		t.Logf("%q is not there: distance %.2f", sentence, match.Distance)
		if match.Distance < pcm.SameSpeech {
			t.Errorf("%q is in the recording at %v: distance %.2f", sentence, match.Offset, match.Distance)
		}
	}
}

// share returns the part of an utterance between two positions, from 0 (begin) to 1 (end).
func share(audio pcm.Audio, from, to float64) pcm.Audio {
	n := float64(len(audio.Samples))
	return pcm.Audio{Rate: audio.Rate, Channels: audio.Channels, Samples: audio.Samples[int(from*n):int(to*n)]}
}

// part returns the matching part of a recording, with 200 ms around it.
func part(audio pcm.Audio, match pcm.Match) pcm.Audio {
	const around = 200 * time.Millisecond
	from := max(pcm.Samples(match.Offset-around, audio.Rate), 0)
	to := min(pcm.Samples(match.End+around, audio.Rate), len(audio.Samples))
	return pcm.Audio{Rate: audio.Rate, Channels: 1, Samples: audio.Samples[from:to]}
}

// checkAsLoud checks that a voice speaks a sentence in a recording, and that each quarter of it is as loud as the synthesizer makes it. It
// returns the match.
func checkAsLoud(t *testing.T, recording pcm.Audio, voice, sentence string) pcm.Match {
	t.Helper()
	const quarters, tolerance = 4, 4.0 // decibels
	original := speak(t, voice, sentence)
	there, itself := find(t, original, recording), find(t, original, original)
	if there.Distance >= pcm.SameSpeech {
		t.Errorf("%q is not in the recording of %v: distance %.2f", sentence, recording.Duration(), there.Distance)
	}
	part := func(a pcm.Audio, m pcm.Match, quarter int) pcm.Audio {
		from, to := pcm.Samples(m.Offset, a.Rate), pcm.Samples(m.End, a.Rate)
		a.Samples = a.Samples[from:to]
		return share(a, float64(quarter)/quarters, float64(quarter+1)/quarters)
	}
	for q := range quarters {
		change := pcm.Loudness(part(recording, there, q).Samples) - pcm.Loudness(part(original, itself, q).Samples)
		t.Logf("quarter %d of %q at %v is %.1f dB louder", q+1, sentence, there.Offset, change)
		if math.Abs(change) > tolerance {
			t.Errorf("quarter %d of %q is %.1f dB louder than the synthesizer makes it", q+1, sentence, change)
		}
	}
	return there
}

// recognize returns the prompt that the recognizer recognizes in the audio.
func recognize(t *testing.T, audio pcm.Audio, prompts ...string) string {
	t.Helper()
	recognizer, err := pocketsphinx.New(pocketsphinx.Config{})
	if err != nil {
		t.Fatal(err)
	}
	utterance, err := recognizer.Listen(t.Context(), conversation.Hearing{Rate: audio.Rate, Phrases: prompts})
	if err != nil {
		t.Fatal(err)
	}
	defer utterance.Close()
	if err := utterance.Write(audio.Samples); err != nil {
		t.Fatal(err)
	}
	thinking.Lock()
	defer thinking.Unlock()
	heard, err := utterance.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return heard.Text
}
