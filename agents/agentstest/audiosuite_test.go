package agentstest_test

import (
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
)

func TestAudioConforms(t *testing.T) {
	t.Parallel()
	agentstest.RunAudio(t, agentstest.AudioHarness{
		Connect: func(*testing.T) (conversation.Audio, agentstest.FarLeg) {
			phone := agentstest.NewPhone(agentstest.PhoneConfig{})
			return phone.Leg(), phone
		},
		Hold: func(*testing.T) (conversation.Audio, agentstest.FarLeg, func(bool)) {
			phone := agentstest.NewPhone(agentstest.PhoneConfig{})
			return phone.Leg(), phone, phone.Hold
		},
	})
}
