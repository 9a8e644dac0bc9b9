package codec_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/adapters/codec/g711"
	"github.com/callwright/callwright/adapters/codec/g722"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/siptest"
)

// all contains every codec that requires no third-party module.
var all = codec.Set{g711.PCMU(), g711.PCMA(), g722.Engine()}

var _ sip.Codecs = all.New

func TestSet(t *testing.T) {
	t.Parallel()
	if names := all.Names(); !slices.Equal(names, []string{"PCMU", "PCMA", "G722"}) {
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

func BenchmarkCodecs(b *testing.B) {
	for _, e := range all {
		b.Run(e.Name, func(b *testing.B) { siptest.BenchCodec(b, e.New) })
	}
}
