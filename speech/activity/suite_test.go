package activity_test

import (
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/internal/sounds"
	"github.com/callwright/callwright/speech/activity"
	"github.com/callwright/callwright/speech/activity/silero"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	spoken := sounds.Speech(t, "slt", "I would like to come on Tuesday afternoon, if you have something after four o'clock.")
	spoken = spoken[8000 : len(spoken)-8000]
	t.Run("energy", func(t *testing.T) {
		t.Parallel()
		agentstest.RunActivity(t, func(rate int) conversation.Activity { return activity.New(rate, nil) }, spoken)
	})
	t.Run("network", func(t *testing.T) {
		t.Parallel()
		agentstest.RunActivity(t, func(rate int) conversation.Activity { return activity.New(rate, silero.New()) }, spoken)
	})
}
