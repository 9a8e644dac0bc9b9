package pcm_test

import (
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/callwright/callwright/speech/pcm"
)

// pieces is a Source that returns the samples in the field all piece by piece, and then always the error in the field end.
type pieces struct {
	all [][]int16
	end error
}

func (s *pieces) Read(p []int16) (int, error) {
	if len(s.all) == 0 {
		return 0, s.end
	}
	n := copy(p, s.all[0])
	if s.all[0] = s.all[0][n:]; len(s.all[0]) == 0 {
		s.all = s.all[1:]
	}
	return n, nil
}

func TestConvert(t *testing.T) {
	t.Parallel()
	samples := tone(440, 16000, 5000)
	want, err := pcm.Resample(samples, 16000, 8000)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("line cut")
	for _, end := range []error{io.EOF, broken} {
		c, err := pcm.Convert(&pieces{[][]int16{samples[:1], samples[1:4000], samples[4000:]}, end}, 16000, 8000)
		if err != nil {
			t.Fatal(err)
		}
		var got []int16
		p := make([]int16, 77)
		for err == nil {
			var n int
			n, err = c.Read(p)
			got = append(got, p[:n]...)
		}
		if _, again := c.Read(p); err != end || again != end { //nolint:errorlint // the very same
			t.Errorf("ends with %v and then %v, want %v", err, again, end)
		}
		if len(got) > len(want) || len(got) < len(want)-30 || end == io.EOF && len(got) != len(want) || !slices.Equal(got, want[:len(got)]) { //nolint:errorlint // the very same
			t.Errorf("with the end %v: %d samples, want those %d", end, len(got), len(want))
		}
	}
	if _, err := pcm.Convert(nil, 0, 8000); err == nil {
		t.Error("no rate is taken")
	}
}
