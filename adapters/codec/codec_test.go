package codec_test

import (
	"bytes"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/adapters/codec/g711"
	"github.com/callwright/callwright/adapters/codec/g722"
	"github.com/callwright/callwright/adapters/codec/opus"
	"github.com/callwright/callwright/sip"
)

// all is every codec that there is.
var all = codec.Set{g711.PCMU(), g711.PCMA(), opus.Engine(), g722.Engine()}

var _ sip.Codecs = all.New

func TestSet(t *testing.T) {
	t.Parallel()
	if names := all.Names(); !slices.Equal(names, []string{"PCMU", "PCMA", "opus", "G722"}) {
		t.Errorf("the names are %q", names)
	}
	for _, name := range all.Names() {
		for _, spelling := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			if c, err := all.New(spelling); err != nil || c.Name() != name {
				t.Errorf("%s: %v, %v", spelling, c, err)
			}
		}
	}
	for _, name := range []string{"", "G729", "PCMU/8000", "telephone-event"} {
		if _, err := all.New(name); callwright.CodeOf(err) != callwright.CodeUnavailable {
			t.Errorf("%q: error %v", name, err)
		}
	}
	if _, err := (codec.Set{g711.PCMU()}).New("PCMA"); callwright.CodeOf(err) != callwright.CodeUnavailable {
		t.Errorf("a codec that is not in the set: error %v", err)
	}
}

// TestOnlyOpusNeedsItsEngine lists what the other packages are made of: a program without Opus downloads no engine of it.
func TestOnlyOpusNeedsItsEngine(t *testing.T) {
	t.Parallel()
	const engine, ours = "github.com/thesyncim/gopus", "github.com/callwright/callwright/"
	needs := func(packages ...string) bool {
		args := []string{"list", "-deps", "-f", "{{.ImportPath}}"}
		for _, p := range packages {
			args = append(args, ours+p)
		}
		output, err := exec.CommandContext(t.Context(), "go", args...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(output, []byte(engine))
	}
	if needs("adapters/codec", "adapters/codec/g711", "adapters/codec/g722", "adapters/rtpmedia", "adapters/sipua", "sip", "agents/call",
		"sip/siptest") {
		t.Error("a package beside adapters/codec/opus needs " + engine)
	}
	if !needs("adapters/codec/opus") {
		t.Error("adapters/codec/opus does not need " + engine)
	}
}

// frame returns 20 ms of something like speech: two tones and a little noise.
func frame(rate int) []int16 {
	pcm := make([]int16, rate/50)
	for i := range pcm {
		at := float64(i) / float64(rate)
		pcm[i] = int16(6000*math.Sin(2*math.Pi*440*at) + 3000*math.Sin(2*math.Pi*1210*at) + float64(i*17%200))
	}
	return pcm
}

func BenchmarkEncode(b *testing.B) {
	for _, name := range all.Names() {
		b.Run(name, func(b *testing.B) {
			c, _ := all.New(name)
			in, payload := frame(c.Rate()), make([]byte, 0, 1500)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = c.Encode(payload, in)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range all.Names() {
		b.Run(name, func(b *testing.B) {
			c, _ := all.New(name)
			payload, _ := c.Encode(nil, frame(c.Rate()))
			out := make([]int16, 0, 5760)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = c.Decode(out, payload)
			}
		})
	}
}
