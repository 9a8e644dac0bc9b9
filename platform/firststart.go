package platform

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
)

// FirstOrganization is the id of the organization that the first node of a new deployment creates, unless the program has its own
// Authenticator.
const FirstOrganization callwright.OrgID = "00000000-0000-7000-8000-000000000001"

// firstStart creates the first organization if it is absent, writes the files of its secrets, and sets its contact to --contact-email, if
// given. A program with its own Authenticator creates its own organizations. firstStart then only stores a new master key.
func (p parts) firstStart(ctx context.Context) (err error) {
	if p.Config.Authenticator != nil {
		if p.Secrets.Store != nil {
			err = p.Secrets.Store()
		}
		return err
	}
	if p.Info.NewAPIKey, err = firstStart(ctx, p.Config, p.Secrets, p.Access, p.DB); err != nil {
		return err
	}
	if err := p.DB.Checkpoint(ctx); err != nil { // so that a database that loses its write-ahead log is not treated as new
		return err
	}
	if err := writeWebhookSecret(ctx, p.Config, orgstore.Tenants{DB: p.DB}); err != nil {
		return err
	}
	return setContact(ctx, p.Config, p.Access)
}

// apiKeyFile returns the path of the first API key's file, which tools on this machine read.
func apiKeyFile(c Config) string { return filepath.Join(c.Data, "api-key") }

// firstStart creates the first organization and a key for it, unless the organization exists. One transaction creates both, so that neither
// exists without the other. Members of the organization are the deployment's operators. The files of the keys are written before the
// commit, because the keys cannot be read later. The returned key is empty if the organization exists.
func firstStart(ctx context.Context, c Config, s secrets, keys *access.Service, db callwright.Atomic) (callwright.Secret, error) {
	var key access.NewKey
	kept := keyFile{path: apiKeyFile(c)}
	err := db.Do(ctx, func(ctx context.Context) (err error) {
		if _, err = keys.CreateOrganization(ctx, FirstOrganization, "My organization", callwright.EntitlementSIP, callwright.EntitlementOperator); err != nil {
			return err
		}
		if key, err = keys.CreateKey(ctx, FirstOrganization, "first key", 0); err != nil {
			return err
		}
		if s.Store != nil {
			if err := s.Store(); err != nil {
				return err
			}
		}
		return kept.write(key.Key)
	})
	if errors.Is(err, callwright.ErrConflict) {
		return "", nil
	}
	return key.Key, err
}

// keyFile writes the file of an API key.
type keyFile struct {
	path  string
	moved bool // true after the first write, which has renamed an older key file if there was one
}

// write writes a key to the file. The first call renames an existing file, which contains the key for another database, to path.old. write
// may be called again if the transaction is retried.
func (f *keyFile) write(key callwright.Secret) error {
	if !f.moved {
		if err := os.Rename(f.path, f.path+".old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		f.moved = true
	}
	return replaceFile(f.path, []byte(key.Reveal()+"\n"))
}

// webhookSecretFile returns the path of the file with the secret that signs the first organization's webhooks.
func webhookSecretFile(c Config) string { return filepath.Join(c.Data, "webhook-secret") }

// writeWebhookSecret writes the secret of the first organization's webhooks to its file, for receivers that verify signatures.
func writeWebhookSecret(ctx context.Context, c Config, tenants callwright.Tenants) error {
	org, err := tenants.Organization(ctx, FirstOrganization)
	if err != nil {
		return err
	}
	return replaceFile(webhookSecretFile(c), []byte(org.WebhookSecret.Reveal()+"\n"))
}

// setContact sets --contact-email as the contact of the first organization. Without the flag it does nothing.
func setContact(ctx context.Context, c Config, keys *access.Service) error {
	if c.ContactEmail == "" {
		return nil
	}
	_, err := keys.UpdateOrganization(ctx, FirstOrganization, access.OrganizationChange{ContactEmail: &c.ContactEmail})
	return err
}
