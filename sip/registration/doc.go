// Package registration keeps the registrations of inbound trunks with their customers' servers (RFC 3261, section 10):
// it registers, refreshes in time, tries again with patience, and knows when a connection is lost.
package registration
