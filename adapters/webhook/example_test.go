package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/webhook"
)

// The receiver verifies the signature of a message with the organization's secret.
func Example() {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			fmt.Println(err)
			return
		}
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		signature := hex.EncodeToString(mac.Sum(nil))
		fmt.Println(string(body), hmac.Equal([]byte(signature), []byte(r.Header.Get(webhook.SignatureHeader))))
	}))
	defer receiver.Close()

	ctx := context.Background()
	tenants := orgstore.Tenants{Store: memstore.New()}
	if err := tenants.InsertOrganization(ctx, callwright.Organization{ID: "acme", WebhookSecret: secret}); err != nil {
		fmt.Println(err)
		return
	}
	sender, err := webhook.New(webhook.Config{Tenants: tenants, AllowPrivate: true}) // the receiver listens on loopback
	if err != nil {
		fmt.Println(err)
		return
	}
	defer sender.Close()
	fmt.Println(sender.Send(ctx, "acme", "message-1", receiver.URL, []byte(`{"call_id":"c1"}`)))
	// Output:
	// {"call_id":"c1"} true
	// <nil>
}
