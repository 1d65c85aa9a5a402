"""Clients that work on while the server under them is killed again and again: what the crash tests with a load share."""
import threading


class Load:
    """A test's own load gives work(number), a client that goes on until `ending` and waits for `up` when its connection breaks,
    and count(), what was acknowledged so far. What was acknowledged changes by note() alone."""

    def __init__(self, server, clients):
        self.server, self.up, self.ending = server, threading.Event(), False
        self.lock, self.faults = threading.Condition(), []
        self.threads = [threading.Thread(target=self._guarded, args=(n,), daemon=True) for n in range(clients)]

    def _guarded(self, number):
        try:
            self.work(number)
        except Exception as fault:
            self.note(lambda: self.faults.append(repr(fault)))

    def note(self, put):
        with self.lock:
            put()
            self.lock.notify_all()

    def _await_more(self, acks):
        with self.lock:
            wanted = self.count() + acks
            enough = self.lock.wait_for(lambda: self.faults or self.count() >= wanted, 120)
            assert not self.faults, self.faults[:3]
            assert enough, f"only {self.count()} of {wanted} acknowledgements"

    def outlive(self, kills, acks, check):
        """Kills the server each time that so many more were acknowledged; check() after each start, while nobody asks."""
        self.up.set()
        for thread in self.threads:
            thread.start()
        for _ in range(kills):
            self._await_more(acks)
            self.up.clear()
            self.server.kill()
            self.server.start()
            check()
            self.up.set()
        self._await_more(acks)
        self.ending = True
        for thread in self.threads:
            thread.join(60)
        assert not self.faults, self.faults[:3]
