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

// FirstOrganization is the organization that every node of a new deployment starts with.
const FirstOrganization callwright.OrgID = "00000000-0000-7000-8000-000000000001"

// firstStart makes the first organization, and keeps its files up to date. A program with its own Authenticator makes its own
// organizations: only a master key that was just made is kept then.
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
	if err := p.DB.Checkpoint(ctx); err != nil { // without its log, too, the database is not taken for a new one
		return err
	}
	if err := writeWebhookSecret(ctx, p.Config, orgstore.Tenants{DB: p.DB}); err != nil {
		return err
	}
	return setContact(ctx, p.Config, p.Access)
}

// apiKeyFile is the file of the first key, for the tools of this machine.
func apiKeyFile(c Config) string { return filepath.Join(c.Data, "api-key") }

// firstStart makes the organization and a key to it, unless the organization is there: in one transaction, so that there is no key
// without a new organization and no organization without a key. The people of the organization are the operators of the deployment.
// The files of the keys are written before the commit, because they cannot be read afterwards. The key is empty if the organization
// was there.
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

// keyFile is the file of an API key.
type keyFile struct {
	path  string
	moved bool // a key to another database is out of the way
}

// write writes a key, also again. A key that was there, to another database, stays beside it.
func (f *keyFile) write(key callwright.Secret) error {
	if !f.moved {
		if err := os.Rename(f.path, f.path+".old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		f.moved = true
	}
	return replaceFile(f.path, []byte(key.Reveal()+"\n"))
}

// webhookSecretFile is the file of the secret that signs the first organization's webhooks.
func webhookSecretFile(c Config) string { return filepath.Join(c.Data, "webhook-secret") }

// writeWebhookSecret writes that file, for receivers that check signatures.
func writeWebhookSecret(ctx context.Context, c Config, tenants callwright.Tenants) error {
	org, err := tenants.Organization(ctx, FirstOrganization)
	if err != nil {
		return err
	}
	return replaceFile(webhookSecretFile(c), []byte(org.WebhookSecret.Reveal()+"\n"))
}

// setContact makes --contact-email, where it is given, the address of the first organization.
func setContact(ctx context.Context, c Config, keys *access.Service) error {
	if c.ContactEmail == "" {
		return nil
	}
	_, err := keys.UpdateOrganization(ctx, FirstOrganization, access.OrganizationChange{ContactEmail: &c.ContactEmail})
	return err
}
