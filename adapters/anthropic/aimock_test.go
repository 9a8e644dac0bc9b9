package anthropic_test

import (
	"testing"

	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/internal/engine/enginetest"
)

func TestAIMock(t *testing.T) { //nolint:paralleltest // one mock for all its steps
	enginetest.RunAIMock(t, func(t *testing.T, address string) llm.Model {
		return client(t, anthropic.Config{BaseURL: address, APIKey: key})
	})
}
