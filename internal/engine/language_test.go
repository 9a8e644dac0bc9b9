package engine_test

import (
	"testing"

	"github.com/callwright/callwright/internal/engine"
)

func TestLanguage(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"": "", "en": "en", "en-US": "en", "DE_at": "de", "zh-Hant-TW": "zh", "cmn-Hans-CN": "zh", "nb-NO": "no", "iw": "he", "fil-PH": "tl",
		"yue-HK": "yue", "es-419": "es", " fr-CA ": "fr", "eng": "en",
	} {
		if got := engine.Language(tag); got != want {
			t.Errorf("%q is %q, want %q", tag, got, want)
		}
	}
}
