package siptest_test

import (
	"context"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/siptest"
	"github.com/callwright/callwright/sip/testcall"
)

// texter is an alert.Texter that records the texts passed to SendText. RunTexter is tested with it, because no adapter of this repository
// sends SMS.
type texter struct{ sent []string }

func (x *texter) SendText(_ context.Context, _ callwright.OrgID, _, text string) error {
	x.sent = append(x.sent, text)
	return nil
}

func TestTexter(t *testing.T) {
	t.Parallel()
	siptest.RunTexter(t, "a", func(*testing.T) (alert.Texter, func() []string) {
		x := &texter{}
		return x, func() []string { return x.sent }
	})
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	siptest.RunPrompt(t, func(*testing.T) testcall.Prompt { return testcall.Chime{} })
}
