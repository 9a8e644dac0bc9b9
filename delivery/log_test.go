package delivery_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/delivery"
)

var message = delivery.Message{
	Org: "a", Kind: delivery.MessageCall, ID: "c1", Subject: "c1", URL: "https://user:hunter2@example.com:8443/hunter2?token=hunter2",
}

// TestDeliveryLog checks the stored delivery of a message that fails twice and is then accepted.
func TestDeliveryLog(t *testing.T) {
	t.Parallel()
	log := callwrighttest.NewDeliveryLog(t, orgstore.Deliveries{Store: memstore.New()})
	now := time.Now()
	try := func(failure error, after time.Duration) error {
		return log.Redeliver(t.Context(), message, failure, now, now.Add(after))
	}
	if err := try(nil, 0); err != nil {
		t.Fatal(err)
	}
	callwrighttest.WantDeliveries(t, log, "a")
	if again := try(errors.New("no \xff\x00"+strings.Repeat("é", 1000)), 0); again == nil {
		t.Error("it is not sent again")
	}
	callwrighttest.WantDeliveries(t, log, "a", "call c1 example.com:8443 pending 1")
	busy := &callwright.Error{Code: callwright.CodeUnavailable, Message: "busy", RetryAfter: 7 * time.Minute}
	if wait, _ := callwright.RetryAfter(try(busy, 5*time.Second)); wait != 7*time.Minute {
		t.Errorf("it is sent again in %s", wait)
	}
	page, err := log.List(t.Context(), "a", delivery.Pending, callwright.Keyset{}, 1)
	if err != nil || len(page.Items) != 1 || page.Items[0].Failure != "busy" || page.Items[0].Next.Sub(now) != 7*time.Minute+5*time.Second {
		t.Fatalf("got %+v, %v", page, err)
	}
	broken, cancel := context.WithCancel(t.Context())
	cancel()
	if err := log.Redeliver(broken, message, broken.Err(), now, now); !errors.Is(err, context.Canceled) {
		t.Errorf("an attempt that was broken off gave %v", err)
	}
	if err := try(nil, 8*time.Minute); err != nil {
		t.Fatal(err)
	}
	callwrighttest.WantDeliveries(t, log, "a", "call c1 example.com:8443 delivered 3")
}

// TestDeliveryLogDrops checks that the reason for giving up a message is stored as valid UTF-8 of at most 500 bytes.
func TestDeliveryLogDrops(t *testing.T) {
	t.Parallel()
	log, now := callwrighttest.NewDeliveryLog(t, orgstore.Deliveries{Store: memstore.New()}), time.Now()
	if again := log.Redeliver(t.Context(), message, errors.New("busy"), now, now); again == nil {
		t.Error("it is not sent again")
	}
	if err := log.GiveUp(t.Context(), message, "gone \xff\x00"+strings.Repeat("é", 1000), now); err != nil {
		t.Fatal(err)
	}
	page, err := log.List(t.Context(), "a", delivery.GivenUp, callwright.Keyset{}, 1)
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("got %+v, %v", page, err)
	}
	if why := page.Items[0].Failure; len(why) > 500 || !utf8.ValidString(why) || !strings.HasPrefix(why, "gone é") {
		t.Errorf("the reason is %q", why)
	}
}

// TestDeliveryLogLists checks the limits of pages and the behavior of a nil Log.
func TestDeliveryLogLists(t *testing.T) {
	t.Parallel()
	log := callwrighttest.NewDeliveryLog(t, orgstore.Deliveries{Store: memstore.New()})
	now, refused := time.Now(), callwright.ErrForbidden
	for i, id := range []string{"c1", "c2", "c3"} {
		m := message
		m.ID, m.Subject = id, id
		if again := log.Redeliver(t.Context(), m, refused, now, now.Add(time.Duration(i)*time.Second)); again != nil {
			t.Errorf("what is refused for good is sent again: %v", again)
		}
	}
	page, err := log.List(t.Context(), "a", delivery.GivenUp, callwright.Keyset{}, 2)
	if err != nil || len(page.Items) != 2 || page.Items[0].Subject != "c3" {
		t.Fatalf("got %+v, %v", page, err)
	}
	if page, err = log.List(t.Context(), "a", "", page.Next, 2); err != nil || len(page.Items) != 1 || !page.Next.IsZero() {
		t.Errorf("then %+v, %v", page, err)
	}
	for _, limit := range []int{-1, 0, delivery.MaxPage + 1} {
		if _, err := log.List(t.Context(), "a", "", callwright.Keyset{}, limit); callwright.CodeOf(err) != callwright.CodeBadRequest {
			t.Errorf("a limit of %d gave %v", limit, err)
		}
	}
	if _, err := log.List(t.Context(), "a", "lost", callwright.Keyset{}, 1); callwright.CodeOf(err) != callwright.CodeBadRequest {
		t.Errorf("a state that there is not gave %v", err)
	}
	var none *delivery.Log
	if again := none.Redeliver(t.Context(), message, errors.New("no answer"), now, now); again == nil {
		t.Error("without a log nothing is sent again")
	}
	if err := errors.Join(none.Redeliver(t.Context(), message, refused, now, now), none.GiveUp(t.Context(), message, "gone", now)); err != nil {
		t.Error(err)
	}
	if _, err := delivery.NewLog(delivery.LogConfig{}); err == nil {
		t.Error("a log without a store is made")
	}
}
