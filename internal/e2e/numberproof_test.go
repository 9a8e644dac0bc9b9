package e2e_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/transport/oas/sipoas"
)

// TestNumberProof checks that the server calls a phone and reads a code to it, and that this code then attaches the phone's number.
func TestNumberProof(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca, User: theirs.String()})
	s := start(t, ca.CertFile(), "--number-proof", "call")
	s.AttachOutbound(t, ours.String(), phone.Server())
	attach := func() sipoas.SipAttachResult {
		t.Helper()
		answer, err := s.API.AttachSipNumbers(t.Context(), &sipoas.SipAttach{
			PhoneNumbers: []string{theirs.String()}, Service: sipoas.SipServiceNameSip,
			Directions: []sipoas.SipDirectionInput{{Type: sipoas.SipDirectionInbound}},
		}, sipoas.AttachSipNumbersParams{})
		if err != nil {
			t.Fatal(err)
		}
		return answer.Data
	}
	if done := attach(); len(done.Failed) != 1 || !done.Failed[0].ProofRequired.Value {
		t.Fatalf("without a proof: %+v", done)
	}
	if _, err := s.API.StartSipNumberProof(t.Context(), &sipoas.SipNumberProofStart{PhoneNumber: theirs.String()}); err != nil {
		t.Fatal(err)
	}
	phone.Await(t, "CALL_ESTABLISHED", 1)
	await.That(t, "the proof to be called", func() bool {
		p, err := s.API.GetSipNumberProof(t.Context(), sipoas.GetSipNumberProofParams{PhoneNumber: theirs.String()})
		return err == nil && p.Data.Status == sipoas.SipNumberProofStatusCalled
	})
	code := digitsIn(t, phone.Heard(t))
	answer, err := s.API.VerifySipNumberProof(t.Context(), &sipoas.SipNumberProofCode{PhoneNumber: theirs.String(), Code: code})
	if err != nil || answer.Data.Status != sipoas.SipNumberProofStatusProven {
		t.Fatalf("the code %s: %+v, %v", code, answer, err)
	}
	if done := attach(); len(done.Configured) != 1 {
		t.Errorf("with a proof: %+v", done)
	}
	if calls := s.Calls(t); len(calls) > 0 {
		t.Errorf("the call has a record, which could show the code: %+v", calls)
	}
}

// digitsIn returns the last six digits in a recording before the words that announce their repetition.
func digitsIn(t *testing.T, recording pcm.Audio) string {
	t.Helper()
	names := []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
	var heard strings.Builder
	spoken := make([]pcm.Audio, len(names))
	for digit, name := range names {
		spoken[digit] = speak(t, "", name)
	}
	again := find(t, speak(t, "", "Again, the code is"), recording)
	for _, word := range words(recording) {
		if word.begin > again.Offset-100*time.Millisecond {
			break
		}
		best, distance := 0, pcm.SameSpeech
		for digit := range names {
			if d := find(t, spoken[digit], word.audio).Distance; d < distance {
				best, distance = digit, d
			}
		}
		if distance < pcm.SameSpeech {
			heard.WriteString(strconv.Itoa(best))
		}
	}
	t.Logf("heard %q of %v", heard.String(), recording.Duration())
	return heard.String()[max(0, heard.Len()-6):]
}

// word is a part of a recording between silences.
type word struct {
	begin time.Duration
	audio pcm.Audio
}

// words returns the parts of a recording between silences of 250 ms. The audio of each includes up to 250 ms of silence on both sides.
func words(recording pcm.Audio) (all []word) {
	const quiet = 200
	around := recording.Rate / 4
	begin, last := -1, 0
	add := func() {
		from, to := max(0, begin-around), min(len(recording.Samples), last+around)
		all = append(all, word{
			time.Duration(begin) * time.Second / time.Duration(recording.Rate),
			pcm.Audio{Rate: recording.Rate, Channels: 1, Samples: recording.Samples[from:to]},
		})
		begin = -1
	}
	for i, sample := range recording.Samples {
		switch loud := max(sample, -sample) > quiet; {
		case loud && begin < 0:
			begin, last = i, i
		case loud:
			last = i
		case begin >= 0 && i-last > around:
			add()
		}
	}
	if begin >= 0 {
		add()
	}
	return all
}
