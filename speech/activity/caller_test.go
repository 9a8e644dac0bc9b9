package activity_test

import (
	"math"
	"slices"
	"testing"

	"github.com/callwright/callwright/internal/sounds"
	"github.com/callwright/callwright/speech/activity"
	"github.com/callwright/callwright/speech/activity/silero"
)

// counts returns the number of frames that are the caller's voice, and of those that are somebody else's speech.
func counts(d *activity.Detector, p []int16) (voice, far int) {
	for frame := range slices.Chunk(p, 160) {
		v := d.Hear(frame, nil)
		if v.Far {
			far++
		}
		if v.Voice() {
			voice++
		}
	}
	return voice, far
}

// TestSofterVoices checks that speech 25 dB below the caller's usual level is somebody else's, that this level is unknown before the caller
// speaks, and that a caller who becomes as soft is heard again after a while.
func TestSofterVoices(t *testing.T) {
	t.Parallel()
	line := sounds.White(-66)
	caller := sounds.Mix(sounds.Scale(sounds.Speech(t, "rms", "I would like to come on Tuesday afternoon."), -20), line)
	room := sounds.Mix(sounds.Scale(sounds.Speech(t, "slt", "Have you seen the keys of the car, or did you leave them at the office?"), -45), line)
	d := activity.New(8000, nil)
	before, _ := counts(d, room)
	if voice, far := counts(d, caller); voice < 50 || far > voice/7 {
		t.Fatalf("%d frames of the caller are voice, and %d are somebody else's", voice, far)
	}
	if voice, far := counts(d, room); voice > before/3 || far < before/2 {
		t.Errorf("%d frames of the softer voice count, and %d are somebody else's; before the caller spoke, %d counted", voice, far, before)
	}
	for range 9 {
		counts(d, room)
	}
	if voice, _ := counts(d, room); voice < before/2 {
		t.Errorf("after ten times the same speech, %d frames count, want about %d", voice, before)
	}
}

// TestEchoIsNotTheCaller checks that an echo during the agent's speech does not change the caller's usual level.
func TestEchoIsNotTheCaller(t *testing.T) {
	t.Parallel()
	line := sounds.White(-66)
	spoken := sounds.Speech(t, "slt", "Good morning, would you like to come on Monday or on Tuesday?")
	echo := sounds.Mix(sounds.Scale(spoken, -15), line)
	caller := sounds.Mix(sounds.Scale(spoken, -35), line)
	d := activity.New(8000, nil)
	for frame := range slices.Chunk(echo, 160) {
		d.Hear(frame, frame)
	}
	if voice, far := counts(d, caller); voice < 50 || far > 3 { // first frames after a pause
		t.Errorf("%d frames of the caller are voice, and %d are somebody else's", voice, far)
	}
}

// TestSpeechIsNoTone checks that neither speech nor music is taken for call progress or fax tones.
func TestSpeechIsNoTone(t *testing.T) {
	t.Parallel()
	for _, voice := range []string{"slt", "rms", "awb", "kal16"} {
		p := sounds.Mix(sounds.Speech(t, voice, "We went there last summer with the children, and it rained every single day until we left."), sounds.White(-66))
		checkNoTone(t, voice, p)
	}
	checkNoTone(t, "music", sounds.Mix(make([]int16, 80000), sounds.Music(-20)))
}

func checkNoTone(t *testing.T, name string, p []int16) {
	t.Helper()
	d := activity.New(8000, nil)
	for frame := range slices.Chunk(p, 160) {
		if k := d.Hear(frame, nil).Kind; k == activity.Progress || k == activity.Fax {
			t.Errorf("%s contains %s", name, k)
		}
	}
}

// TestKinds checks the kinds of sounds that are not speech.
func TestKinds(t *testing.T) {
	t.Parallel()
	click := make([]int16, 16000)
	for i := range 10 {
		for k := range 60 {
			click[1600*i+40+k] = int16(12000 * math.Exp(-float64(k)/12) * math.Cos(float64(k)))
		}
	}
	silence := make([]int16, 16000)
	for _, c := range []struct {
		name string
		p    []int16
		kind activity.Kind
		want int // minimum number of frames
	}{
		{"clicks", sounds.Mix(click, sounds.White(-65)), activity.Impulse, 9},
		{"a tone of 440 Hz", sounds.Mix(silence, sounds.Tones(-15, 440)), activity.Tone, 96},
		{"a tone of 1000 Hz", sounds.Mix(silence, sounds.Tones(-15, 1000)), activity.Tone, 96},
		{"a tone of 350 Hz at -35 dBFS", sounds.Mix(silence, sounds.Both(sounds.Tones(-35, 350), sounds.White(-60))), activity.Tone, 96},
		{"a tone of 1400 Hz at -35 dBFS", sounds.Mix(silence, sounds.Both(sounds.Tones(-35, 1400), sounds.White(-60))), activity.Tone, 96},
		{"a tone of 950 Hz in noise", sounds.Mix(silence, sounds.Both(sounds.Tones(-25, 950), sounds.White(-45))), activity.Tone, 96},
		{"a dial tone", sounds.Mix(silence, sounds.Tones(-20, 350, 440)), activity.Progress, 90},
		{"a ringback tone", sounds.Mix(silence, sounds.Both(sounds.Tones(-25, 440, 480), sounds.White(-50))), activity.Progress, 90},
		{"a busy tone", sounds.Mix(silence, sounds.Tones(-30, 480, 620)), activity.Progress, 90},
		{"a European ringback tone", sounds.Mix(silence, sounds.Tones(-20, 425)), activity.Progress, 90},
		{"a fax that calls", sounds.Mix(silence, sounds.Both(sounds.Tones(-20, 1110), sounds.White(-50))), activity.Fax, 80},
		{"a fax that answers", sounds.Mix(silence, sounds.Tones(-15, 2100)), activity.Fax, 80},
		{"the digit 9", sounds.Mix(silence, sounds.Tones(-15, 852, 1477)), activity.Tone, 99},
	} {
		got := map[activity.Kind]int{}
		d := activity.New(8000, nil)
		for frame := range slices.Chunk(c.p, 160) {
			got[d.Hear(frame, nil).Kind]++
		}
		if got[c.kind] < c.want || got[activity.Speech] > 7 { // without a network, a tone is speech until it is known
			t.Errorf("%s: the frames are %v", c.name, got)
		}
	}
}

// BenchmarkHear measures a frame of speech with the network. A frame lasts 20 ms.
func BenchmarkHear(b *testing.B) {
	p := sounds.Scale(sounds.Speech(b, "slt", "I would like to come on Tuesday afternoon."), -20)
	d := activity.New(8000, silero.New())
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if i+160 > len(p) {
			i = 0
		}
		d.Hear(p[i:i+160], nil)
		i += 160
	}
}

// TestVoicesInRoom checks that babble 10 dB softer than the caller does not count once the caller stops, and that the soft end of a sentence
// counts on a quiet line.
func TestVoicesInRoom(t *testing.T) {
	t.Parallel()
	const seconds = 8000
	caller := sounds.Scale(sounds.Speech(t, "rms", "No, that was my sister, and she has moved to Springfield."), -20)
	babble := sounds.Babble(t, -30)
	d := activity.New(8000, silero.New())
	counts(d, sounds.Mix(make([]int16, 3*seconds), babble))
	if voice, _ := counts(d, sounds.Mix(caller, func(i int) float64 { return babble(i + 3*seconds) })); voice < 80 {
		t.Errorf("%d frames of the caller are voice, want at least 80", voice)
	}
	if voice, far := counts(d, sounds.Mix(make([]int16, 3*seconds), func(i int) float64 { return babble(i + 10*seconds) })); voice > 15 || far < 30 {
		t.Errorf("after the caller has stopped, %d frames of the babble are voice, and %d are somebody else's", voice, far)
	}

	line := sounds.White(-66)
	d = activity.New(8000, silero.New())
	counts(d, sounds.Mix(make([]int16, 3*seconds), line))
	counts(d, sounds.Mix(caller, line))
	soft := sounds.Mix(sounds.Scale(sounds.Speech(t, "rms", "If that is all right with you."), -30), line)
	if voice, far := counts(d, soft); voice < 50 || far > 10 {
		t.Errorf("of the caller's soft words, %d frames are voice, and %d are somebody else's", voice, far)
	}
}
