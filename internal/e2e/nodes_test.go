package e2e_test

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/bunstore/pgtest"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// TestTwoNodes runs two servers on one PostgreSQL database. The second server must see and stop a call of the first server, and close
// another of its calls after the first server's death.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	ca := authority(t)
	phone := baresip.Start(t, baresip.Config{CA: ca})
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails, according to its documentation
	config := server.Config{
		Roots: ca.CertFile(), Flags: []string{"--database-url", pgtest.DSN(t)},
		Env: []string{"CALLWRIGHT_SECRET_KEY=" + base64.StdEncoding.EncodeToString(secret)},
	}
	one, two := server.StartTwo(t, config)
	if _, err := os.Stat(filepath.Join(two.Data, "api-key")); !errors.Is(err, fs.ErrNotExist) || strings.Contains(two.Log(), "shown once") {
		t.Errorf("the second node made a key, too: %v", err)
	}
	two.AttachInbound(t, ours.String())

	call := func() (id string) {
		before := len(phone.Events("CALL_ESTABLISHED"))
		phone.Dial(t, one.Number(ours.String()))
		phone.Await(t, "CALL_ESTABLISHED", before+1)
		id = two.Calls(t)[0].CallID
		says(t, two, id, "What would you like me to note?")
		return id
	}
	stopped := call()
	two.StopCall(t, stopped)
	phone.AwaitReceived(t, "BYE ")
	if r := one.Ended(t, stopped); r.Status != callsoas.CallStatusCompleted {
		t.Errorf("a call that the other node stopped ended as %s, %q", r.Status, r.ErrorMessage.Value)
	}
	cut := call()
	one.Kill()
	r := two.Ended(t, cut)
	if r.Status != callsoas.CallStatusFailed || r.QueueStatus != callsoas.QueueStatusCompleteError ||
		!strings.Contains(r.ErrorMessage.Value, "the server that ran the call stopped") {
		t.Errorf("a call whose node died ended as %s, %s, %q", r.Status, r.QueueStatus, r.ErrorMessage.Value)
	}
	if calls := two.Calls(t); len(calls) != 2 {
		t.Errorf("%d records of 2 calls", len(calls))
	}
	two.Stop(t)
}
