package siptest

import (
	"testing"
	"time"

	"github.com/callwright/callwright/sip/testcall"
)

// RunPrompt tests a testcall.Prompt.
func RunPrompt(t *testing.T, newPrompt func(t *testing.T) testcall.Prompt) {
	t.Helper()
	const shortest, longest = 500 * time.Millisecond, 20 * time.Second
	for _, rate := range []int{8000, 16000, 48000} {
		samples, err := newPrompt(t).Prompt(t.Context(), rate)
		if err != nil {
			t.Errorf("at %d Hz: %v", rate, err)
			continue
		}
		if lasts := time.Duration(len(samples)) * time.Second / time.Duration(rate); lasts < shortest || lasts > longest {
			t.Errorf("at %d Hz it lasts %v, want %v to %v", rate, lasts, shortest, longest)
		}
		loudest := int16(0)
		for _, s := range samples {
			loudest = max(loudest, s)
		}
		if loudest < 1000 {
			t.Errorf("at %d Hz it is silent", rate)
		}
	}
}
