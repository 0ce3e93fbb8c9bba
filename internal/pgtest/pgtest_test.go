//go:build unix

package pgtest

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/swapper-go/swapper/internal/trial"
)

// Both forms of a connection string take a parameter more.
func TestWith(t *testing.T) {
	for name, dsn := range map[string]string{
		"keywords":             "host=127.0.0.1 port=5433 user=u dbname=d",
		"URL":                  "postgres://u@127.0.0.1:5433/d",
		"URL with a parameter": "postgresql://u@127.0.0.1:5433/d?application_name=tests",
	} {
		t.Run(name, func(t *testing.T) {
			c := trial.Must(pgx.ParseConfig(With(t, dsn, "role", "reader")))(t)
			if c.Host != "127.0.0.1" || c.Port != 5433 || c.User != "u" || c.Database != "d" || c.RuntimeParams["role"] != "reader" {
				t.Errorf("got host %s, port %d, user %s, database %s, parameters %v", c.Host, c.Port, c.User, c.Database, c.RuntimeParams)
			}
		})
	}
}
