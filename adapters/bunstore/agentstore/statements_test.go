package agentstore_test

import (
	"testing"

	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
)

func TestStatementsOfACallAreCompiledOnce(t *testing.T) {
	t.Parallel()
	storetest.CompilesOnce(t, liveCall)
}
