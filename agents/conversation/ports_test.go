package conversation_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/tts"
)

func TestSpeechCheck(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("é", tts.MaxText/2)
	for name, c := range map[string]struct {
		speech tts.Request
		field  string
	}{
		"nothing to say": {tts.Request{Rate: 8000}, ""},
		"the longest":    {tts.Request{Text: longest, Rate: 8000}, ""},
		"too long":       {tts.Request{Text: longest + "e", Rate: 8000}, "text"},
		"not UTF-8":      {tts.Request{Text: "caf\xe9", Rate: 8000}, "text"},
		"no rate":        {tts.Request{Text: "Hello."}, "rate"},
		"a bad rate":     {tts.Request{Text: "Hello.", Rate: -8000}, "rate"},
	} {
		err := c.speech.Check()
		if c.field == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != callwright.CodeBadRequest || e.Field != c.field {
			t.Errorf("%s: error %v, want %v about %q", name, err, callwright.CodeBadRequest, c.field)
		}
	}
}
