package leg_test

import (
	"math"
	"testing"

	"github.com/callwright/callwright/adapters/sipua/internal/leg"
	trunk "github.com/callwright/callwright/sip"
)

// TestOneDigitAPress checks that a key press that arrives by two methods is one digit, and that only telephone-events count after the first
// telephone-event.
func TestOneDigitAPress(t *testing.T) {
	t.Parallel()
	const none = 0
	tests := map[string]struct {
		mode   trunk.DTMFMode
		frames []byte // digits of telephone-events, or of INFO if the highest bit is set
		want   string
	}{
		"events":                  {trunk.DTMFEvents, []byte{'1', none, '1', '2'}, "112"},
		"INFO":                    {trunk.DTMFInfo, []byte{'1' | 0x80, none, '1' | 0x80, '2' | 0x80}, "112"},
		"both, events first":      {trunk.DTMFInfo, []byte{'1', '1' | 0x80, none, '2', none, '2' | 0x80}, "12"},
		"both, INFO first":        {trunk.DTMFInfo, []byte{'1' | 0x80, '1', none, '1', '1' | 0x80}, "11"},
		"another event than INFO": {trunk.DTMFInfo, []byte{'1' | 0x80, '2'}, "12"},
	}
	for name, tt := range tests {
		d := leg.NewDigits(tt.mode)
		var got []byte
		for _, f := range tt.frames {
			event := f
			if f&0x80 != 0 {
				d.Press(f &^ 0x80)
				event = none
			}
			if digit := d.Frame(event, make([]int16, 160), 8000); digit != 0 {
				got = append(got, digit)
			}
		}
		if string(got) != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestTonesAreDigits checks that tones are recognized as digits only if the trunk's mode is inband.
func TestTonesAreDigits(t *testing.T) {
	t.Parallel()
	for mode, want := range map[trunk.DTMFMode]string{trunk.DTMFInband: "1", trunk.DTMFEvents: "", trunk.DTMFInfo: "", "": ""} {
		d := leg.NewDigits(mode)
		var got []byte
		for n := range 20 {
			pcm := make([]int16, 160)
			for i := range pcm {
				if at := 2 * math.Pi * float64(n*160+i) / 8000; n < 5 {
					pcm[i] = int16(6000*math.Sin(697*at) + 6000*math.Sin(1209*at))
				}
			}
			if digit := d.Frame(0, pcm, 8000); digit != 0 {
				got = append(got, digit)
			}
		}
		if string(got) != want {
			t.Errorf("%q: %q, want %q", mode, got, want)
		}
	}
}
