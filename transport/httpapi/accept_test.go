package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/callwright/callwright/transport/httpapi"
)

func TestAcceptQuality(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]float64{
		"": 1, "audio/wav": 1, "AUDIO/WAV ; Q=0.5": 0.5, "*/*;q=0.3": 0.3, "audio/*;q=0.2, */*": 0.2, "*/*, audio/wav;q=0": 0,
		"audio/wav;q=0.1, audio/wav;q=0.4": 0.4, "text/html": 0, "audio/wav;rate=8000;q=0.7": 0.7, "audio/wav;q=2": 1, "audio/wav;q=x, */*;q=0.1": 0.1,
		"audio": 1, ",,;": 1, "audio/wav;q=NaN, text/html": 0, "audio/wav;q=-1, */*;q=0.2": 0.2, "audio/wav;q=0.000": 0,
	} {
		h := http.Header{}
		if accept != "" {
			h.Set("Accept", accept)
		}
		if got := httpapi.AcceptQuality(h, "audio/wav"); got != want {
			t.Errorf("%q: %v, want %v", accept, got, want)
		}
	}
	several := http.Header{"Accept": {"text/html", "audio/wav;q=0.5"}}
	if got := httpapi.AcceptQuality(several, "audio/wav"); got != 0.5 {
		t.Errorf("two headers: %v", got)
	}
}

func FuzzAcceptQuality(f *testing.F) {
	f.Add("audio/wav;q=0.5, */*;q=0.1", "audio/wav")
	f.Add(";;q=,/", "a")
	f.Fuzz(func(t *testing.T, accept, mediaType string) {
		if q := httpapi.AcceptQuality(http.Header{"Accept": {accept}}, mediaType); !(q >= 0 && q <= 1) {
			t.Errorf("%q of %q: %v", mediaType, accept, q)
		}
	})
}
