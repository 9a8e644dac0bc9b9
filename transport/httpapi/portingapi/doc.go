// Package portingapi serves the operations of port requests and letters of authorization, and sends the events of requests to webhooks.
package portingapi
