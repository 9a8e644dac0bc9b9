package conversation_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
)

func TestSpeechCheck(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("é", conversation.MaxSpeech/2)
	for name, c := range map[string]struct {
		speech conversation.Speech
		field  string
	}{
		"nothing to say": {conversation.Speech{Rate: 8000}, ""},
		"the longest":    {conversation.Speech{Text: longest, Rate: 8000}, ""},
		"too long":       {conversation.Speech{Text: longest + "e", Rate: 8000}, "text"},
		"not UTF-8":      {conversation.Speech{Text: "caf\xe9", Rate: 8000}, "text"},
		"no rate":        {conversation.Speech{Text: "Hello."}, "rate"},
		"a bad rate":     {conversation.Speech{Text: "Hello.", Rate: -8000}, "rate"},
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
