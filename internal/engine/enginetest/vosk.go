package enginetest

import (
	"fmt"
	"net/http"

	"github.com/callwright/callwright/speech/pcm"
)

// Vosk is the protocol of a Vosk server.
func Vosk() Dialect { return vosk{} }

type vosk struct{}

func (vosk) Rate() int                         { return 16000 }
func (vosk) Accept(*http.Request, string) bool { return true }
func (vosk) Greet() []string                   { return nil }
func (vosk) EachMessage() bool                 { return true }
func (vosk) Partial(u Said) []string           { return []string{fmt.Sprintf(`{"partial" : %q}`, u.Text)} }
func (vosk) Final(u Said) []string             { return []string{fmt.Sprintf(`{"text" : %q}`, u.Text)} }
func (vosk) Hear(text bool, data []byte) ([]int16, Ask) {
	switch {
	case !text:
		return pcm.AppendSamples(nil, data), AskNothing
	case string(data) == `{"reset" : 1}`:
		return nil, AskFinal
	case string(data) == `{"eof" : 1}`:
		return nil, AskClose
	default: // the configuration has no answer
		return nil, AskNothing
	}
}
