package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/porting/loa"
)

// The maximum sizes of the files that callwright ports verify reads, in bytes.
const (
	maxEvidence = 4 << 20
	maxPDF      = 20 << 20
)

func (p *portsCommands) verifyCommand() *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use: "verify EVIDENCE.json", Short: "Check the audit trail of a letter of authorization, without a server or a database",
		Long: "Checks that each event of an audit trail has its hash and that of the event before, that none is missing before its head, and that\n" +
			"the PDFs are those that it has recorded. The file alone cannot tell who wrote it, and whether events were cut off its end:\n" +
			"--head compares it with a copy of its head, as the history of the port request has one, and --certificate with the hash on\n" +
			"the last page of the signed letter. The id of the port request is not covered by the hashes: the letter shows it.\n\n" +
			"The file has the answer of GET /v1/sip/port/{id}/letter, or its data.evidence alone.",
		Args: exactly(1, "the file of the evidence"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.verify(cmd, args[0], o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.letter, "letter", "", "a `file` with the letter as it was made, to compare it, too")
	flags.StringVar(&o.signed, "signed", "", "a `file` with the signed letter, to compare it, too")
	flags.StringVar(&o.copies.Head, "head", "", "a `hash` of the head that was kept elsewhere, at any time")
	flags.StringVar(&o.copies.Certificate, "certificate", "", "the `hash` of the audit trail on the last page of the signed letter")
	return cmd
}

// verifyOptions contains the values with which the evidence is compared.
type verifyOptions struct {
	letter, signed string // file names
	copies         loa.Copies
}

// check normalizes the hashes and checks that they are SHA-256 in hex.
func (o *verifyOptions) check() error {
	for _, of := range []struct {
		flag  string
		value *string
	}{{"--head", &o.copies.Head}, {"--certificate", &o.copies.Certificate}} {
		*of.value = strings.ToLower(strings.TrimSpace(*of.value))
		if raw, err := hex.DecodeString(*of.value); *of.value != "" && (err != nil || len(raw) != sha256.Size) {
			return fmt.Errorf("%s must be a SHA-256 in hex, 64 characters", of.flag)
		}
	}
	return nil
}

// pdfs reads the letter and the signed letter. A PDF that no flag names is nil.
func (o *verifyOptions) pdfs() (pdfs [2][]byte, err error) {
	for i, name := range []string{o.letter, o.signed} {
		if name == "" {
			continue
		}
		if pdfs[i], err = readFile(name, maxPDF); err != nil {
			return pdfs, err
		}
	}
	return pdfs, nil
}

// verifiedJSON lists the proven facts, and the id of the request, which the hashes do not cover.
type verifiedJSON struct {
	Request  string `json:"port_request_id"`
	Events   int    `json:"events"`
	Head     string `json:"head"`
	UpTo     int    `json:"proved_up_to,omitempty"` // number of the last event that a given hash proves
	SignedBy string `json:"signed_by,omitempty"`
	SignedAt string `json:"signed_at,omitempty"`

	SignedEvent int    `json:"signed_event,omitempty"`      // number of the signature's event
	SignedHash  string `json:"signed_event_hash,omitempty"` // hash of this event, which the certificate page shows

	Letter bool `json:"letter_checked"`
	Signed bool `json:"signed_letter_checked"`
}

// evidenceOf parses the evidence of a letter, alone or within the answer of GET /v1/sip/port/{id}/letter. It returns an error if the answer
// has unknown members. It decodes the answer into maps, because encoding/json matches the names of struct fields without regard to case.
func evidenceOf(raw []byte) (e loa.Evidence, err error) {
	var answer, data map[string]json.RawMessage
	if json.Unmarshal(raw, &answer) == nil && json.Unmarshal(answer["data"], &data) == nil && data["evidence"] != nil {
		delete(answer, "errors")
		delete(data, "letter")
		if len(answer) > 1 || len(data) > 1 {
			return e, errors.New("the answer must not contain unknown members")
		}
		raw = data["evidence"]
	}
	err = json.Unmarshal(raw, &e)
	return e, err
}

// verify verifies the evidence in a file, compares it with the copies in o, and prints the proven facts.
func (p *portsCommands) verify(cmd *cobra.Command, evidence string, o verifyOptions) error {
	if err := o.check(); err != nil {
		return usage(err)
	}
	raw, err := readFile(evidence, maxEvidence)
	if err != nil {
		return usage(err)
	}
	e, err := evidenceOf(raw)
	if err != nil {
		return usage(fmt.Errorf("%s: this is not the evidence of a letter, as GET /v1/sip/port/{id}/letter returns it: %w", evidence, err))
	}
	pdfs, err := o.pdfs()
	if err != nil {
		return usage(err)
	}
	if err := loa.Verify(e, pdfs[0], pdfs[1]); err != nil {
		return refusal(fmt.Errorf("%s: %w", evidence, err))
	}
	v := verifiedJSON{Request: e.Request, Events: len(e.Events), Head: e.Head, Letter: o.letter != "", Signed: o.signed != ""}
	if v.UpTo, err = loa.Compare(e, o.copies); err != nil {
		return refusal(fmt.Errorf("%s: %w", evidence, err))
	}
	for _, event := range e.Events {
		if event.Kind == loa.EventSigned {
			v.SignedBy, v.SignedAt, v.SignedEvent, v.SignedHash = event.Name, stamp(event.At), event.Number, event.Hash
		}
	}
	return show(cmd, v, func(w *tabwriter.Writer) { v.text(w, o) })
}

// text writes the result of the verification as text.
func (v verifiedJSON) text(w *tabwriter.Writer, o verifyOptions) {
	printf(w, "Request\t%s (not covered by the hashes)\n", v.Request)
	printf(w, "Events\t%d, none changed and none missing before the head\nHead\t%s\n", v.Events, v.Head)
	if v.UpTo > 0 {
		printf(w, "Copies\tnone missing up to event %d, as the hashes prove that you gave\n", v.UpTo)
	}
	if v.SignedBy != "" {
		printf(w, "Signed\tby %s at %s, event %d\nCertificate\tshows the hash of event %d: %s\n",
			v.SignedBy, v.SignedAt, v.SignedEvent, v.SignedEvent, v.SignedHash)
	}
	for i, name := range []string{o.letter, o.signed} {
		if name != "" {
			printf(w, "%s\t%s is the PDF that was recorded\n", []string{"Letter", "Signed letter"}[i], name)
		}
	}
}

// readFile reads a file. It returns an error if the file is longer than the limit, most, in bytes. The bytes of an empty file are not nil.
func readFile(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) > most {
		return nil, fmt.Errorf("%s: must have at most %d bytes", name, most)
	}
	if raw == nil {
		raw = []byte{}
	}
	return raw, nil
}
