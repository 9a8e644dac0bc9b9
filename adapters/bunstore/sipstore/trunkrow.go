package sipstore

import (
	"encoding/json"
	"net/netip"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/header"
)

type trunkRow struct {
	bun.BaseModel `bun:"table:trunks"`

	ID               string        `bun:"id,pk"`
	Org              string        `bun:"org"`
	Number           string        `bun:"number"`
	Direction        string        `bun:"direction"`
	Endpoint         string        `bun:"endpoint"`
	Options          optionsJSON   `bun:"options,type:jsonb"`
	CallPassword     string        `bun:"call_password"`      // sealed password
	RegisterPassword string        `bun:"register_password"`  // sealed password
	Headers          []ruleJSON    `bun:"headers,type:jsonb"` // only in rows of earlier releases; now in Secrets
	Secrets          string        `bun:"secrets"`            // sealed trunkSecretsJSON
	Failover         *failoverJSON `bun:"failover,type:jsonb"`
	Codecs           *codecsJSON   `bun:"codecs,type:jsonb"`
	Alerts           *alertsJSON   `bun:"alerts,type:jsonb"`
	CreatedAt        time.Time     `bun:"created_at"`
	UpdatedAt        time.Time     `bun:"updated_at"`
	Version          int64         `bun:"version"`
}

// optionsJSON is the JSON form of a sip.Options without its passwords.
type optionsJSON struct {
	AuthMode         sip.AuthMode        `json:"auth_mode,omitempty"`
	RegisterUsername string              `json:"register_username,omitempty"`
	CallUsername     string              `json:"call_username,omitempty"`
	Port             int                 `json:"port,omitempty"`
	Transport        string              `json:"transport,omitempty"`
	Verify           sip.TLSVerification `json:"verify,omitempty"`
	AllowedIPs       []netip.Prefix      `json:"allowed_ips,omitempty"`
	SecureMedia      *bool               `json:"secure_media,omitempty"`
	Transfers        sip.TransferPolicy  `json:"transfers,omitempty"`
	DTMF             sip.DTMFMode        `json:"dtmf,omitempty"`
	Redirects        sip.RedirectPolicy  `json:"redirects,omitempty"`
}

// trunkSecretsJSON holds the members that may contain keys of other systems: constants in headers, and the URL of a webhook.
type trunkSecretsJSON struct {
	Headers []ruleJSON `json:"headers"`
	Webhook string     `json:"webhook,omitempty"`
}

type ruleJSON struct {
	Custom *customJSON `json:"custom,omitempty"`
	UUI    *uuiJSON    `json:"uui,omitempty"`
}

type failoverJSON struct {
	Enabled  bool               `json:"enabled"`
	Servers  []serverJSON       `json:"servers"`
	Triggers []failover.Trigger `json:"triggers"`
	Failback failover.Failback  `json:"failback,omitempty"`
}

type codecsJSON struct {
	Codecs    []codecJSON `json:"codecs"`
	Transcode bool        `json:"transcode,omitempty"`
}

type alertsJSON struct {
	Enabled    bool           `json:"enabled"`
	Thresholds thresholdsJSON `json:"thresholds"`
	Channels   channelsJSON   `json:"channels"`
}

// Go converts between these types and their domain types, as in agentstore/document.go.

type customJSON struct {
	Key         string `json:"key"`
	Value       string `json:"value"`
	Passthrough bool   `json:"passthrough,omitempty"`
}

type uuiJSON struct {
	Target   string `json:"target"`
	Purpose  string `json:"purpose,omitempty"`
	Encoding string `json:"encoding,omitempty"`
	Content  string `json:"content,omitempty"`
}

type serverJSON struct {
	Host string `json:"host"`
	Port uint16 `json:"port,omitempty"`
}

type codecJSON struct {
	Name    string `json:"name"`
	Enabled bool   `json:"enabled"`
}

type thresholdsJSON struct {
	Unreachable       time.Duration `json:"unreachable_ns,omitempty"`
	FailureRate       float64       `json:"failure_rate,omitempty"`
	FailureRateWindow time.Duration `json:"failure_rate_window_ns,omitempty"`
	ResponseTime      time.Duration `json:"response_time_ns,omitempty"`
}

type channelsJSON struct {
	Email   bool   `json:"email,omitempty"`
	SMS     bool   `json:"sms,omitempty"`
	Webhook string `json:"webhook,omitempty"`
}

// These functions return the purposes of Keyring.Seal that bind sealed texts to their trunk and column.
func callPurpose(id string) string     { return "trunk:" + id + ":call" }
func registerPurpose(id string) string { return "trunk:" + id + ":register" }
func secretsPurpose(id string) string  { return "trunk:" + id + ":secrets" }

func (db core) trunkRow(t sip.Trunk) trunkRow {
	o := t.Options
	row := trunkRow{
		ID: t.ID, Org: string(t.Org), Number: string(t.Number), Direction: string(t.Direction), Endpoint: t.Endpoint,
		Options: optionsJSON{
			AuthMode: o.AuthMode, RegisterUsername: o.Register.Username, CallUsername: o.Call.Username, Port: o.Port,
			Transport: o.Transport, Verify: o.Verify, AllowedIPs: o.AllowedIPs, SecureMedia: o.SecureMedia,
			Transfers: o.Transfers, DTMF: o.DTMF, Redirects: o.Redirects,
		},
		CallPassword:     db.Keyring.Seal(callPurpose(t.ID), o.Call.Password),
		RegisterPassword: db.Keyring.Seal(registerPurpose(t.ID), o.Register.Password),
		CreatedAt:        sqldb.Stored(t.CreatedAt), UpdatedAt: sqldb.Stored(t.UpdatedAt), Version: t.Version,
	}
	if f := t.Failover; f != nil {
		row.Failover = &failoverJSON{f.Enabled, sqldb.Converted(f.Servers, newServerJSON), f.Triggers, f.Failback}
	}
	if c := t.Codecs; c != nil {
		codec := func(s sip.CodecSetting) codecJSON { return codecJSON(s) }
		row.Codecs = &codecsJSON{sqldb.Converted(c.Codecs, codec), c.Transcode}
	}
	if a := t.Alerts; a != nil {
		row.Alerts = &alertsJSON{a.Enabled, thresholdsJSON(a.Thresholds), channelsJSON(a.Channels)}
		row.Alerts.Channels.Webhook = ""
	}
	row.Secrets = db.trunkSecrets(t)
	return row
}

// trunkSecrets returns the sealed secrets of a trunk, or an empty string if there are none.
func (db core) trunkSecrets(t sip.Trunk) string {
	secrets := trunkSecretsJSON{Headers: sqldb.Converted(t.Headers, func(r header.Rule) ruleJSON {
		return ruleJSON{Custom: (*customJSON)(r.Custom), UUI: (*uuiJSON)(r.UUI)}
	})}
	if t.Alerts != nil {
		secrets.Webhook = t.Alerts.Channels.Webhook
	}
	if secrets.Headers == nil && secrets.Webhook == "" {
		return ""
	}
	plain, _ := json.Marshal(secrets) //nolint:errchkjson // texts always have a JSON
	return db.Keyring.Seal(secretsPurpose(t.ID), callwright.Secret(plain))
}

// unsealSecrets decrypts the secrets of a row into the fields in which rows of earlier releases contain them.
func (db core) unsealSecrets(r *trunkRow) error {
	plain, err := db.Unseal(secretsPurpose(r.ID), r.Secrets)
	if err != nil || plain == "" {
		return err
	}
	var secrets trunkSecretsJSON
	if err := json.Unmarshal([]byte(plain), &secrets); err != nil {
		return callwright.ErrInternal.Because(err)
	}
	r.Headers = secrets.Headers
	if r.Alerts != nil {
		r.Alerts.Channels.Webhook = secrets.Webhook
	}
	return nil
}

func (db core) trunk(r trunkRow) (sip.Trunk, error) {
	callPassword, err := db.Unseal(callPurpose(r.ID), r.CallPassword)
	if err != nil {
		return sip.Trunk{}, err
	}
	registerPassword, err := db.Unseal(registerPurpose(r.ID), r.RegisterPassword)
	if err != nil {
		return sip.Trunk{}, err
	}
	if err := db.unsealSecrets(&r); err != nil {
		return sip.Trunk{}, err
	}
	o := r.Options
	t := sip.Trunk{
		ID: r.ID, Org: callwright.OrgID(r.Org), Number: callwright.PhoneNumber(r.Number),
		Direction: sip.Direction(r.Direction), Endpoint: r.Endpoint,
		Options: sip.Options{
			AuthMode: o.AuthMode,
			Register: sip.Credentials{Username: o.RegisterUsername, Password: registerPassword},
			Call:     sip.Credentials{Username: o.CallUsername, Password: callPassword},
			Port:     o.Port, Transport: o.Transport, Verify: o.Verify, AllowedIPs: o.AllowedIPs, SecureMedia: o.SecureMedia,
			Transfers: o.Transfers, DTMF: o.DTMF, Redirects: o.Redirects,
		},
		Headers: sqldb.Converted(r.Headers, func(r ruleJSON) header.Rule {
			return header.Rule{Custom: (*header.Custom)(r.Custom), UUI: (*header.UUI)(r.UUI)}
		}),
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), Version: r.Version,
	}
	if f := r.Failover; f != nil {
		t.Failover = &failover.Config{
			Enabled: f.Enabled, Servers: sqldb.Converted(f.Servers, serverJSON.server), Triggers: f.Triggers, Failback: f.Failback,
		}
	}
	if c := r.Codecs; c != nil {
		setting := func(c codecJSON) sip.CodecSetting { return sip.CodecSetting(c) }
		t.Codecs = &sip.CodecConfig{Codecs: sqldb.Converted(c.Codecs, setting), Transcode: c.Transcode}
	}
	if a := r.Alerts; a != nil {
		t.Alerts = &alert.Config{
			Enabled: a.Enabled, Thresholds: alert.Thresholds(a.Thresholds), Channels: alert.Channels(a.Channels),
		}
	}
	return t, nil
}

func newServerJSON(s failover.Server) serverJSON { return serverJSON(s) }

func (s serverJSON) server() failover.Server { return failover.Server(s) }
