package agentstest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

// RunAMD tests a call.AMD at the sample rates that calls use. newAMD returns a detector for one call, whose words are English.
func RunAMD(t *testing.T, newAMD func(rate int) call.AMD) {
	t.Helper()
	for _, rate := range []int{8000, 16000, 48000} {
		t.Run(fmt.Sprintf("%d Hz", rate), func(t *testing.T) {
			t.Parallel()
			start := func(t *testing.T) *amdCall { return &amdCall{t: t, amd: newAMD(rate), rate: rate} }
			t.Run("decides by sound alone", func(t *testing.T) { amdDecides(t, start) })
			t.Run("words correct the verdict", func(t *testing.T) { amdHearsWords(t, start) })
			t.Run("partial words are replaced", func(t *testing.T) { amdReplacesWords(t, start) })
			t.Run("any words are accepted", func(t *testing.T) { amdAcceptsWords(t, start) })
			t.Run("a recording ends", func(t *testing.T) { amdEnds(t, start) })
		})
	}
}

// amdCall is a call of the suite. It checks every verdict.
type amdCall struct {
	t    *testing.T
	amd  call.AMD
	rate int
	now  time.Duration
	last call.Answerer
}

// categories lists all categories.
var categories = []call.Category{
	call.CategoryHuman, call.CategoryVoicemail, call.CategoryIVR, call.CategoryScreening, call.CategoryAnnouncement, call.CategorySIT,
	call.CategoryFax, call.CategoryUnknown,
}

// hear passes a sound of any length to the AMD, in frames of 20 ms.
func (c *amdCall) hear(sound []int16) {
	c.t.Helper()
	for frame := range slices.Chunk(sound, c.rate/50) {
		if len(frame) < c.rate/50 {
			return
		}
		got := c.amd.Hear(conversation.Frame{In: frame, Elapsed: c.now})
		switch {
		case got == c.last:
		case c.now > call.MaxAMD:
			c.t.Fatalf("the verdict changed to %+v after %s", got, c.now)
		case got.At != c.now:
			c.t.Fatalf("the verdict is %+v in the frame at %s", got, c.now)
		case !slices.Contains(categories, got.Category):
			c.t.Fatalf("the category is %q", got.Category)
		case got.Rule == call.RuleWords && (got.Words == "" || !got.Sure), got.Rule == "":
			c.t.Fatalf("the verdict is %+v", got)
		}
		c.last = got
		c.now += frameTime
	}
}

// silence and tone return sounds. Their durations are whole frames.
func (c *amdCall) silence(d time.Duration) []int16 { return make([]int16, int(d/frameTime)*c.rate/50) }

func (c *amdCall) tone(hertz float64, d time.Duration) []int16 {
	sound := c.silence(d)
	for i := range sound {
		sound[i] = int16(8000 * math.Sin(2*math.Pi*hertz*float64(i)/float64(c.rate)))
	}
	return sound
}

func amdDecides(t *testing.T, start func(t *testing.T) *amdCall) {
	for name, sound := range map[string]func(c *amdCall) []int16{
		"silence":         func(c *amdCall) []int16 { return c.silence(time.Second) },
		"a buzz":          func(c *amdCall) []int16 { return Voice(strings.Repeat("a", 30), c.rate) },
		"words":           func(c *amdCall) []int16 { return append(Voice("hello is this on ", c.rate), c.silence(time.Second)...) },
		"endless words":   func(c *amdCall) []int16 { return Voice("leave a message ", c.rate) },
		"a constant tone": func(c *amdCall) []int16 { return c.tone(1000, time.Second) },
	} {
		c := start(t)
		for c.now < call.MaxAMD {
			c.hear(sound(c))
		}
		if c.last.Category == "" {
			t.Errorf("%s: there is no verdict after %s", name, c.now)
		}
		c.amd.Words("Please leave a message after the tone.", true)
		c.hear(c.tone(1000, time.Second)) // changes nothing any more
		c.hear(c.silence(10 * time.Second))
	}
}

func amdHearsWords(t *testing.T, start func(t *testing.T) *amdCall) {
	for text, want := range map[string]call.Category{
		"Please leave a message after the tone.":                           call.CategoryVoicemail,
		"For sales, press one. For support, press two.":                    call.CategoryIVR,
		"The number you have dialed is not in service.":                    call.CategoryAnnouncement,
		"Please state your name and the reason for calling.":               call.CategoryScreening,
		"Good morning, this is Anna with Miller and Sons, how can I help?": call.CategoryHuman,
	} {
		c := start(t)
		c.hear(Voice(strings.Repeat("leave a message ", 8), c.rate)) // long enough for a machine
		c.amd.Words(text, true)
		c.hear(c.silence(frameTime))
		if c.last.Category != want || c.last.Rule != call.RuleWords {
			t.Errorf("%q: the verdict is %+v, want %s", text, c.last, want)
		}
	}
}

func amdReplacesWords(t *testing.T, start func(t *testing.T) *amdCall) {
	c := start(t)
	c.hear(append(Voice("hello", c.rate), c.silence(2*time.Second)...))
	c.amd.Words("The number you have dialed is not in", false)
	c.amd.Words("The number is in my notes, please leave", false)
	c.amd.Words("a message after the tone", false) // replaces the words before
	c.hear(c.silence(frameTime))
	if c.last.Category != call.CategoryVoicemail || c.last.Rule != call.RuleWords {
		t.Errorf("the verdict is %+v", c.last)
	}
	joined := start(t)
	joined.hear(Voice("hello", joined.rate))
	joined.amd.Words("Please leave a", true)
	joined.amd.Words("message after the tone.", true)
	joined.hear(joined.silence(frameTime))
	if joined.last.Category != call.CategoryVoicemail {
		t.Errorf("the verdict on words in two turns is %+v", joined.last)
	}
}

func amdAcceptsWords(t *testing.T, start func(t *testing.T) *amdCall) {
	c := start(t)
	for _, text := range []string{"", " ", "\xff\x00", "[noise]", strings.Repeat("and then ", 5000), "日本語の挨拶"} {
		c.amd.Words(text, false)
		c.amd.Words(text, true)
		c.hear(c.silence(frameTime))
	}
	if c.last.Rule == call.RuleWords {
		t.Errorf("the verdict is %+v", c.last)
	}
}

func amdEnds(t *testing.T, start func(t *testing.T) *amdCall) {
	for name, test := range map[string]struct {
		pause, tone, least, most time.Duration
	}{
		"after its tone":       {500 * time.Millisecond, 400 * time.Millisecond, 100 * time.Millisecond, 400 * time.Millisecond},
		"after a long silence": {0, 0, 1500 * time.Millisecond, 3 * time.Second},
	} {
		c := start(t)
		c.hear(Voice(strings.Repeat("leave a message ", 8), c.rate))
		c.hear(c.silence(test.pause))
		for frame := range slices.Chunk(c.tone(1000, test.tone), c.rate/50) {
			if c.hear(frame); c.amd.Ended() {
				t.Fatalf("%s: the recording has ended within the tone", name)
			}
		}
		ended := c.now
		for !c.amd.Ended() && c.now-ended < 10*time.Second {
			c.hear(c.silence(frameTime))
		}
		if silence := c.now - ended; silence < test.least || silence > test.most {
			t.Errorf("%s: the recording has ended %s later, want %s to %s", name, silence, test.least, test.most)
		}
		if c.last.Category != call.CategoryVoicemail {
			t.Errorf("%s: the verdict is %+v", name, c.last)
		}
	}
}
