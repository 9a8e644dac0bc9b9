package gemini_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/internal/engine/enginetest"
)

// TestVendorsClient runs Google's own client against the fake, so that a fake that is wrong is found.
func TestVendorsClient(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tools := &fake{answer: func(w http.ResponseWriter) { enginetest.Wild(t, w, "S13.sse") }}
	out, err := enginetest.Node(ctx, "vendors-gemini.mjs", (&fake{}).serve(t), key, tools.serve(t)).CombinedOutput()
	const want = `{"reply":"Good morning.","stop":"STOP","usage":[21,3],"answer":{"pass":true},` +
		`"calls":[["find_slots",{"day":"Mon"}],["weather",{"city":"Rome"}]],"refusal":400}`
	if err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("%v (run scripts/install-deps.sh test)\n%s", err, out)
	}
}
