package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/access"
)

// firstOrg is the organization that every node of a new deployment starts with.
const firstOrg callwright.OrgID = "00000000-0000-7000-8000-000000000001"

// apiKeyFile is where the first key is kept for the tools of this machine.
func apiKeyFile(c config) string { return filepath.Join(c.Data, "api-key") }

// firstStart makes the organization, and a key to it for this data folder, unless they are there. The key is printed
// this once. A key in the folder that came with another database stays beside the new one.
func firstStart(ctx context.Context, c config, s *access.Service) error {
	_, err := s.CreateOrganization(ctx, firstOrg, "My organization", callwright.EntitlementSIP)
	fresh := err == nil
	if err != nil && !errors.Is(err, callwright.ErrConflict) {
		return err
	}
	_, err = os.Stat(apiKeyFile(c))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil || !fresh:
		return err
	default:
		if err := os.Rename(apiKeyFile(c), apiKeyFile(c)+".old"); err != nil {
			return err
		}
	}
	key, err := s.CreateKey(ctx, firstOrg, "first key", 0)
	if err != nil {
		return err
	}
	if err := os.WriteFile(apiKeyFile(c), []byte(key.Key.Reveal()+"\n"), 0o600); err != nil {
		return err
	}
	fmt.Printf("API key of the new organization, shown once and kept in %s:\n  %s\n", apiKeyFile(c), key.Key.Reveal())
	return nil
}

// webhookSecretFile is where the secret stands that signs the first organization's webhooks.
func webhookSecretFile(c config) string { return filepath.Join(c.Data, "webhook-secret") }

// writeWebhookSecret writes that file, for those who check signatures.
func writeWebhookSecret(ctx context.Context, c config, tenants callwright.Tenants) error {
	org, err := tenants.Organization(ctx, firstOrg)
	if err != nil {
		return err
	}
	return os.WriteFile(webhookSecretFile(c), []byte(org.WebhookSecret.Reveal()+"\n"), 0o600)
}

// setContact makes --contact-email, where it is given, the address of the first organization.
func setContact(ctx context.Context, c config, tenants callwright.Tenants) error {
	if c.ContactEmail == "" {
		return nil
	}
	org, err := tenants.Organization(ctx, firstOrg)
	if err != nil || org.ContactEmail == c.ContactEmail {
		return err
	}
	org.ContactEmail = c.ContactEmail
	return tenants.UpdateOrganization(ctx, org)
}
