package portingstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/loa"
)

// letterData holds letters by the ids of their requests. Its values are never changed in place.
type letterData struct {
	*memory.Tables
	letters *memory.Rows[string, letter]
	links   *memory.Table[string, string]    // request ids by LinkHash
	due     *memory.Table[string, time.Time] // by request id
}

// letter is a letter of authorization (LOA) with its PDFs and its audit trail.
type letter struct {
	loa.Letter

	pdf, signed []byte
	events      []loa.Event
}

// New returns the data of an empty store.
func (letterData) New() letterData {
	t := &memory.Tables{}
	return letterData{
		Tables:  t,
		letters: memory.NewRows(t, "letter", func(l *letter) (callwright.OrgID, string, *int64) { return l.Org, l.Request, &l.Revision }),
		links:   memory.NewTable[string, string](t), due: memory.NewTable[string, time.Time](t),
	}
}

// Letters implements loa.Store in memory.
type Letters struct{ Store *memstore.Store }

var _ loa.Store = Letters{}

// withLetters passes the letters to f, in the transaction of ctx if it carries one. f must not fail after its first change, because only a
// failed transaction undoes changes.
func (s Letters) withLetters(ctx context.Context, f func(d *letterData) error) error {
	return memory.With(ctx, s.Store.Core(), f)
}

// InsertLetter adds a letter with its unsigned PDF and its first events. It returns CodeConflict if the request already has a letter or the
// LinkHash is already stored.
func (s Letters) InsertLetter(ctx context.Context, l loa.Letter, pdf []byte, events ...loa.Event) error {
	return s.withLetters(ctx, func(d *letterData) error {
		_, taken := d.letters.Rows()[l.Request]
		_, linked := d.links.Rows()[l.LinkHash]
		if taken || linked {
			return callwright.ErrConflict
		}
		l.Revision = 1
		d.set(letter{}, letter{Letter: memory.Clone(l), pdf: slices.Clone(pdf), events: slices.Clone(events)})
		return nil
	})
}

// set stores the letter l in place of its former value, and updates the indexes of links and due times.
func (d *letterData) set(was, l letter) {
	if was.LinkHash != l.LinkHash {
		d.links.Delete(was.LinkHash)
		d.links.Set(l.LinkHash, l.Request)
	}
	d.due.Delete(l.Request)
	if !l.DueAt.IsZero() {
		d.due.Set(l.Request, l.DueAt)
	}
	d.letters.Set(l.Request, l)
}

// Letter returns the letter of a request, or CodeNotFound if the organization has no such letter.
func (s Letters) Letter(ctx context.Context, org callwright.OrgID, request string) (loa.Letter, error) {
	found, err := memory.Read(ctx, s.Store.Core(), func(d *letterData) (letter, error) { return d.letters.Find(org, request) })
	return found.Letter, err
}

// LetterByLink returns the letter with the given LinkHash, or CodeNotFound if there is none.
func (s Letters) LetterByLink(ctx context.Context, hash string) (l loa.Letter, err error) {
	err = s.withLetters(ctx, func(d *letterData) error {
		request, ok := d.links.Rows()[hash]
		if !ok {
			return callwright.NotFound("letter")
		}
		l = memory.Clone(d.letters.Rows()[request].Letter)
		return nil
	})
	return l, err
}

// UpdateLetter replaces a letter and appends events to its audit trail. If signed is nil, the stored signed PDF stays. UpdateLetter returns
// CodeConflict if the stored revision differs or another letter has the LinkHash, and CodeNotFound if the letter is absent.
func (s Letters) UpdateLetter(ctx context.Context, l loa.Letter, signed []byte, events ...loa.Event) error {
	return s.withLetters(ctx, func(d *letterData) error {
		if err := d.letters.Check(letter{Letter: l}); err != nil {
			return err
		}
		stored := d.letters.Rows()[l.Request]
		if other, linked := d.links.Rows()[l.LinkHash]; linked && other != l.Request {
			return callwright.ErrConflict
		}
		l.Revision++
		changed := letter{memory.Clone(l), stored.pdf, stored.signed, slices.Concat(stored.events, events)}
		if signed != nil {
			changed.signed = slices.Clone(signed)
		}
		d.set(stored, changed)
		return nil
	})
}

// PDF returns the signed or the unsigned PDF of a letter. It returns CodeNotFound if the letter is absent, or if the signed PDF is
// requested and the letter is not yet signed.
func (s Letters) PDF(ctx context.Context, org callwright.OrgID, request string, signed bool) (pdf []byte, err error) {
	err = s.withLetters(ctx, func(d *letterData) error {
		l, err := d.letters.Find(org, request)
		pdf = slices.Clone(l.pdf)
		if signed {
			pdf = slices.Clone(l.signed)
		}
		if err == nil && pdf == nil {
			return callwright.NotFound("signed letter")
		}
		return err
	})
	return pdf, err
}

// Events returns the audit trail of a letter, oldest first. It returns no events if the organization has no such letter.
func (s Letters) Events(ctx context.Context, org callwright.OrgID, request string) (events []loa.Event, err error) {
	err = s.withLetters(ctx, func(d *letterData) error {
		if l, err := d.letters.Find(org, request); err == nil {
			events = slices.Clone(l.events)
		}
		return nil
	})
	return events, err
}

// DueLetters returns the organizations and request ids of up to limit letters that are due at the given time, the longest due first.
func (s Letters) DueLetters(ctx context.Context, now time.Time, limit int) (names []porting.Name, err error) {
	err = s.withLetters(ctx, func(d *letterData) error {
		var ids []string
		for id, at := range d.due.Rows() {
			if !at.After(now) {
				ids = append(ids, id)
			}
		}
		slices.SortFunc(ids, func(a, b string) int {
			return cmp.Or(d.due.Rows()[a].Compare(d.due.Rows()[b]), cmp.Compare(a, b))
		})
		for _, id := range ids[:min(limit, len(ids))] {
			names = append(names, porting.Name{Org: d.letters.Rows()[id].Org, ID: id})
		}
		return nil
	})
	return names, err
}
