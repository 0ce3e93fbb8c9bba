package lp

import "net/url"

// Host returns the part of an LP's URL that all its services share.
func Host(base string) string {
	if u, err := url.Parse(base); err == nil {
		return u.Host
	}
	return base
}
