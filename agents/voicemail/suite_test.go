package voicemail_test

import (
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/voicemail"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	agentstest.RunAMD(t, func(rate int) call.AMD { return voicemail.New(rate, "en", nil) })
}
