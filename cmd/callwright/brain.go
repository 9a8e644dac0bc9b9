package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/remotebrain"
	"github.com/callwright/callwright/adapters/webhook"
	"github.com/callwright/callwright/transport/cli"
)

// checkBrain checks a service that implements a brain. It also connects to private addresses, because services are developed there.
func checkBrain(ctx context.Context, s cli.BrainService) ([]cli.BrainDuty, error) {
	c := remotebrain.CheckConfig{URL: s.URL, Org: checking}
	secret := s.Secret
	if secret == "" {
		secret = randomSecret()
	}
	sender, err := signing(ctx, secret, 0)
	if err != nil {
		return nil, err
	}
	defer sender.Close()
	if err := sender.CheckURL(s.URL); err != nil {
		return nil, callwright.InField("URL", err)
	}
	c.Sender = sender
	if s.Secret != "" {
		forged, err := signing(ctx, randomSecret(), 0)
		if err != nil {
			return nil, err
		}
		defer forged.Close()
		old, err := signing(ctx, secret, time.Hour)
		if err != nil {
			return nil, err
		}
		defer old.Close()
		c.Forged, c.Old = forged, old
	}
	duties, err := remotebrain.Check(ctx, c)
	all := make([]cli.BrainDuty, len(duties))
	for i, d := range duties {
		all[i] = cli.BrainDuty{Name: d.Name, Result: string(d.Result), Detail: d.Detail}
	}
	return all, err
}

// signing returns a sender that signs with a secret. Its clock is late by the parameter late.
func signing(ctx context.Context, secret callwright.Secret, late time.Duration) (*webhook.Sender, error) {
	tenants := orgstore.Tenants{Store: memstore.New()}
	if err := tenants.InsertOrganization(ctx, callwright.Organization{ID: checking, WebhookSecret: secret}); err != nil {
		return nil, err
	}
	return webhook.New(webhook.Config{
		Tenants: tenants, AllowPrivate: true, Runtime: callwright.Runtime{Clock: lateClock{late: late}},
	})
}

// checking is the id of the organization for which requests are signed.
const checking callwright.OrgID = "check"

// randomSecret returns a secret in the format of the Standard Webhooks specification.
func randomSecret() callwright.Secret {
	return callwright.Secret("whsec_" + base64.StdEncoding.EncodeToString([]byte(rand.Text())))
}

// lateClock is the system's clock, minus a duration.
type lateClock struct {
	callwright.SystemClock
	late time.Duration
}

// Now implements callwright.Clock.
func (c lateClock) Now() time.Time { return c.SystemClock.Now().Add(-c.late) }
