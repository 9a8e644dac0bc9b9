package loa

import (
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// State is the state of a letter. Package loa documents the transitions.
type State string

// The states of a letter. All except Waiting are final.
const (
	Waiting  State = "waiting"
	Signed   State = "signed"
	Declined State = "declined"
	Revoked  State = "revoked" // the request was canceled, has expired, or was signed on paper
)

// Letter is the letter of authorization of a port request. A request has at most one letter.
type Letter struct {
	Org     callwright.OrgID
	Request string // id of the port request
	State   State
	Content Content // content of the PDF; encrypted at rest

	SHA256       string // hash of the PDF, in lower-case hex
	SignedSHA256 string // hash of the signed PDF; empty if not signed
	Link         int    // number of the current link, from 1; mails contain only the current link
	LinkHash     string // SHA-256 of the current link's token, in lower-case hex
	SignBy       time.Time
	Reminders    int       // number of reminders mailed
	DueAt        time.Time // time of the next reminder; zero if none

	CreatedAt time.Time
	EndedAt   time.Time // zero while the letter waits
	Events    int       // number of events in the audit trail
	Head      string    // hash of the last event
	Revision  int64     // increases by 1 with each update
}

// Content is the content of a letter. Its JSON is stored, so that a waiting letter can be rendered again when it is signed.
type Content struct {
	Request       string                   `json:"request"`
	Date          time.Time                `json:"date"` // date of the request
	Numbers       []callwright.PhoneNumber `json:"numbers"`
	CustomerType  porting.CustomerType     `json:"customer_type"`
	BusinessName  string                   `json:"business_name,omitempty"`
	FirstName     string                   `json:"first_name"`
	LastName      string                   `json:"last_name"`
	AccountNumber string                   `json:"account_number"` // masked: see porting.Masked
	Email         string                   `json:"email"`
	Address       porting.Address          `json:"address"`
	TargetDate    time.Time                `json:"target_date"`
	Provider      string                   `json:"provider"` // the new provider, which the signer designates as the agent
	Template      string                   `json:"template"` // see constant Template; for example "us-1"
}

// Signature contains a signer's input and its origin.
type Signature struct {
	Name      string // as typed; must match the authorized representative's name, ignoring case
	Title     string // may be empty
	Consent   bool   // the signer agrees to sign electronically
	Authority bool   // the signer may act for the account
	SHA256    string // hash of the letter that the signer was shown
	Origin    Origin
}

// Limits of a signer's input, in characters unless noted.
const (
	MaxName      = 250
	MaxTitle     = 100
	MaxReason    = 1000
	MaxUserAgent = 500 // in bytes; longer texts are truncated
)

// Origin identifies the client from which a signer's request came.
type Origin struct {
	IP        string
	UserAgent string // at most MaxUserAgent bytes
}

// Certificate is the content of the pages that RenderSigned adds to a signed letter.
type Certificate struct {
	Letter     string // SHA-256 of the PDF that was signed, in hex
	Name       string
	Title      string
	Email      string // address to which the link was mailed
	SignedAt   time.Time
	Origin     Origin
	Disclosure string // the text to which the signer has consented
	Trail      string // hash of the audit trail event that records the signature
}

// View is the content of the signing page.
type View struct {
	Letter     Letter
	Text       Text   // wording of the letter, for signers who cannot read the PDF
	Disclosure string // text to which the signer must consent
	Expired    bool   // the letter expired before it was signed or declined
}

// Text is the wording of a letter, as the PDF and the signing page show it.
type Text struct {
	Title      string
	Facts      []Fact // facts about the account, in the order shown
	Numbers    []string
	Paragraphs []string // the signer's declarations
}

// Fact is a labeled line of a letter, for example an account number.
type Fact struct{ Name, Value string }
