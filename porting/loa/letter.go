package loa

import (
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// State is the state of a letter.
type State string

// The states. All but the first are final.
const (
	Waiting  State = "waiting"
	Signed   State = "signed"
	Declined State = "declined"
	Revoked  State = "revoked" // the request was canceled, has expired, or was signed on paper
)

// Letter is a letter of authorization of a port request, which has at most one.
type Letter struct {
	Org     callwright.OrgID
	Request string // id of the port request
	State   State
	Content Content // of the PDF; encrypted at rest

	SHA256       string // of the PDF, in lower-case hex
	SignedSHA256 string // of the signed PDF; empty: not signed
	Link         int    // number of the current link, from 1; each mail contains the newest link
	LinkHash     string // SHA-256 of its token, in lower-case hex
	SignBy       time.Time
	Reminders    int       // that were mailed
	DueAt        time.Time // of the next reminder; zero: none

	CreatedAt time.Time
	EndedAt   time.Time // zero: waiting
	Events    int       // of its audit trail
	Head      string    // hash of the last one
	Revision  int64     // counts changes
}

// Content is the content of a letter. Its JSON is stored: a waiting letter is rendered from it again when it is signed.
type Content struct {
	Request       string                   `json:"request"`
	Date          time.Time                `json:"date"` // of the request
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
	Template      string                   `json:"template"` // name of the wording, for example "us-1"
}

// Signature holds a signer's input, and its origin.
type Signature struct {
	Name      string // as typed; must be the authorized representative's name, in any case
	Title     string // may be empty
	Consent   bool   // agrees to sign electronically
	Authority bool   // may act for the account
	SHA256    string // of the letter that was shown
	Origin    Origin
}

// The limits of a signer's input, in characters.
const (
	MaxName      = 250
	MaxTitle     = 100
	MaxReason    = 1000
	MaxUserAgent = 500 // bytes; the rest is cut off
)

// Origin is the origin of a signer's request.
type Origin struct {
	IP        string
	UserAgent string // at most MaxUserAgent bytes
}

// Certificate is the content of the last page of a signed letter.
type Certificate struct {
	Letter     string // SHA-256 of the PDF that was signed, in hex
	Name       string
	Title      string
	Email      string // to which the link was mailed
	SignedAt   time.Time
	Origin     Origin
	Disclosure string // the text to which the signer has consented
	Trail      string // hash of the entry of the audit trail that records the signature
}

// View is the content of the signing page.
type View struct {
	Letter     Letter
	Text       Text   // text of the PDF, for signers who cannot read the PDF
	Disclosure string // to which the signer consents
	Expired    bool   // the letter expired before it was signed or declined
}

// Text is the wording of a letter. The PDF and the signing page show it.
type Text struct {
	Title      string
	Facts      []Fact // of the account, in their order
	Numbers    []string
	Paragraphs []string // declarations of the signer
}

// Fact is a line of a letter.
type Fact struct{ Name, Value string }
