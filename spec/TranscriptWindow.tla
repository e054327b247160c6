--------------------------- MODULE TranscriptWindow ---------------------------
(***************************************************************************)
(* The transcript window: what a view of a conversation holds in memory,   *)
(* paints, drops and pages. One action for each event, by the event's      *)
(* name; an event that the state does not allow is an action that is not   *)
(* enabled.                                                                *)
(*                                                                         *)
(* w is the window's state, with the fields of the abstract state that a   *)
(* trace holds. effects and event are those of the last step. g is what    *)
(* only history tells: what the screen shows, which text the shell has,    *)
(* what the pager shows, where the log begins. It follows from events and  *)
(* effects alone, never from w, so that w and the effects check each other.*)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    Window,    \* most blocks the pager shows
    Step,      \* most blocks one scroll or one read moves it
    Slice,     \* most blocks of one reprint slice
    MaxLive,   \* most live blocks
    MaxHeld,   \* most blocks held between turns in a saved session; 0: no cap
    Follow,    \* whether the pager follows new blocks at the tail
    Jump,      \* whether there is Home and End
    Quiet      \* whether counters, event and effects stand still, for liveness

ASSUME Window >= 1 /\ Step >= 1 /\ Step <= Window /\ Slice >= 1 /\ MaxLive >= 1

VARIABLES w, effects, event, g
vars == <<w, effects, event, g>>

-----------------------------------------------------------------------------
(* Numbers, and the values at rest. *)

None == -1
Min(a, b) == IF a <= b THEN a ELSE b
Max(a, b) == IF a >= b THEN a ELSE b
Blocks(from, to) == from .. (to - 1)

NoRead == [token |-> None, dir |-> "none", from |-> 0]
Closed == [open |-> FALSE, anchor |-> "tail", lo |-> 0, hi |-> 0,
           at_start |-> FALSE, pending |-> NoRead]
NotShown == [lo |-> None, hi |-> None, anchor |-> "none"]
NoEvent == [type |-> "none"]

NewWindow(save) ==
    [save |-> save, cycle |-> 0, cycle_first |-> 0, prev_first |-> None,
     held_first |-> 0, next_seq |-> 0, saved_through |-> 0, live |-> {},
     turn_open |-> FALSE, epoch |-> 0, painted_through |-> 0,
     reprinting |-> FALSE, ctrlo |-> Closed, next_token |-> 0]

NewGhosts(logFirst) ==
    [screen |-> {}, memory |-> {}, drawn |-> {}, shown |-> NotShown,
     log_first |-> logFirst, truthful |-> TRUE]

HasRead(s) == s.ctrlo.pending.dir /= "none"

-----------------------------------------------------------------------------
(* Effects. *)

PaintFinal(n) == [type |-> "paint_final", seq |-> n]
RepaintBlock(id) == [type |-> "repaint_block", id |-> id]
ReprintBegin == [type |-> "reprint_begin"]
ReprintSlice(from, to) == [type |-> "reprint_slice", from |-> from, to |-> to]
RepaintLive == [type |-> "repaint_live"]
Drop(from, to) == [type |-> "drop", from |-> from, to |-> to]
CtrloShow(c) == [type |-> "ctrlo_show", lo |-> c.lo, hi |-> c.hi, anchor |-> c.anchor]
ReadLog(token, dir, from, count) ==
    [type |-> "read_log", token |-> token, dir |-> dir, from |-> from, count |-> count]

-----------------------------------------------------------------------------
(* Ghosts after an event and its effects. *)

ScreenWith(screen, effect) ==
    CASE effect.type = "paint_final" -> screen \union {effect.seq}
      [] effect.type = "reprint_slice" -> screen \union Blocks(effect.from, effect.to)
      [] effect.type = "reprint_begin" -> {}
      [] effect.type = "drop" -> screen \ Blocks(effect.from, effect.to)
      [] OTHER -> screen

MemoryWith(memory, effect) ==
    IF effect.type = "drop" THEN memory \ Blocks(effect.from, effect.to) ELSE memory

DrawnWith(drawn, effect) ==
    CASE effect.type = "reprint_begin" -> {}
      [] effect.type = "repaint_live" -> w.live
      [] effect.type = "repaint_block" -> IF w.reprinting THEN drawn ELSE drawn \union {effect.id}
      [] OTHER -> drawn

ShownWith(shown, effect) ==
    IF effect.type = "ctrlo_show"
    THEN [lo |-> effect.lo, hi |-> effect.hi, anchor |-> effect.anchor]
    ELSE shown

GhostsWith(ghosts, effect) ==
    [ghosts EXCEPT !.screen = ScreenWith(ghosts.screen, effect),
                   !.memory = MemoryWith(ghosts.memory, effect),
                   !.drawn = DrawnWith(ghosts.drawn, effect),
                   !.shown = ShownWith(ghosts.shown, effect)]

GhostsWithAll(ghosts, fx) ==
    LET one == IF Len(fx) >= 1 THEN GhostsWith(ghosts, fx[1]) ELSE ghosts
    IN  IF Len(fx) >= 2 THEN GhostsWith(one, fx[2]) ELSE one

(* Whether a reply to the pending read says of the log what is so. Reads may be short, but only the beginning, or what meets, gives
   nothing. Where the log begins at a place that is not known, nothing can be told. *)
IsTrueReply(count, met) ==
    LET c == w.ctrlo
        logFirst == g.log_first
        from == IF c.anchor = "start" THEN logFirst + c.pending.from ELSE c.pending.from
        before == w.held_first - logFirst
    IN  CASE logFirst = None -> TRUE
          [] c.pending.dir = "first" ->
                /\ count <= Min(Window, before)
                /\ IF met THEN count = before ELSE count > 0
          [] c.pending.dir = "older" ->
                /\ count <= Min(Step, from - logFirst)
                /\ count > 0 \/ from = logFirst
          [] c.anchor = "tail" -> count > 0 /\ count <= Min(Step, w.saved_through - from)
          [] OTHER ->
                /\ count <= Min(Step, w.held_first - from)
                /\ IF met THEN from + count = w.held_first ELSE count > 0

GhostsBy(e) ==
    CASE e.type = "block_finished" ->
            [g EXCEPT !.memory = g.memory \union {w.next_seq}, !.drawn = g.drawn \ {e.id}]
      [] e.type = "ctrlo_closed" -> [g EXCEPT !.shown = NotShown, !.truthful = TRUE]
      [] e.type = "ctrlo_jumped" -> [g EXCEPT !.truthful = g.truthful \/ e.to = "end"]
      [] e.type = "log_read_done" -> [g EXCEPT !.truthful = g.truthful /\ IsTrueReply(e.count, e.met)]
      [] OTHER -> g

-----------------------------------------------------------------------------
(* Steps. An outcome is a window and the effects that led there. *)

Still(s) == [window |-> s, fx |-> <<>>]
With(s, effect) == [window |-> s, fx |-> <<effect>>]
Showing(s, c) == With([s EXCEPT !.ctrlo = c], CtrloShow(c))

Quieted(s) ==
    IF Quiet
    THEN [s EXCEPT !.cycle = 0, !.epoch = s.epoch % 2, !.next_token = 0]
    ELSE s

BecomesFrom(e, outcome, ghosts) ==
    /\ w' = Quieted(outcome.window)
    /\ effects' = (IF Quiet THEN <<>> ELSE outcome.fx)
    /\ event' = (IF Quiet THEN NoEvent ELSE e)
    /\ g' = GhostsWithAll(ghosts, outcome.fx)

Becomes(e, outcome) == BecomesFrom(e, outcome, GhostsBy(e))

(* Where the held blocks could begin if everything that may go went. *)
DropEnd(s) ==
    LET byCycle == IF s.save = "saved" /\ s.saved_through < s.cycle_first THEN 0 ELSE s.cycle_first
        byCap == IF s.save = "saved" /\ MaxHeld > 0 THEN Min(s.saved_through, s.next_seq - MaxHeld) ELSE 0
    IN  Max(byCycle, byCap)

TryDrop(s) ==
    LET from == s.held_first
        to == DropEnd(s)
        c == s.ctrlo
        kept == [s EXCEPT !.held_first = to,
                          !.prev_first = IF to < s.cycle_first THEN to ELSE None,
                          !.painted_through = Max(s.painted_through, to)]
        slid == [c EXCEPT !.lo = to, !.hi = Min(s.next_seq, to + (c.hi - c.lo))]
    IN  IF s.turn_open \/ to <= from
        THEN Still(s)
        ELSE IF s.save = "unsaved" /\ c.open /\ c.lo < to
             THEN [window |-> [kept EXCEPT !.ctrlo = slid], fx |-> <<Drop(from, to), CtrloShow(slid)>>]
             ELSE With(kept, Drop(from, to))

TurnStarted ==
    /\ ~w.turn_open
    /\ Becomes([type |-> "turn_started"], Still([w EXCEPT !.turn_open = TRUE]))

TurnEnded ==
    /\ w.turn_open
    /\ w.live = {}
    /\ Becomes([type |-> "turn_ended"], TryDrop([w EXCEPT !.turn_open = FALSE]))

BlockOpened(id) ==
    /\ id \notin w.live
    /\ Cardinality(w.live) < MaxLive
    /\ Becomes([type |-> "block_opened", id |-> id],
               With([w EXCEPT !.live = w.live \union {id}], RepaintBlock(id)))

BlockChanged(id) ==
    /\ id \in w.live
    /\ Becomes([type |-> "block_changed", id |-> id], With(w, RepaintBlock(id)))

BlockFinished(id) ==
    LET n == w.next_seq
        c == w.ctrlo
        lo == Max(c.lo, n + 1 - Window)
        follows == Follow /\ c.open /\ c.anchor = "tail" /\ c.hi = n
        followed == [c EXCEPT !.lo = lo, !.hi = n + 1, !.at_start = c.at_start /\ lo = c.lo]
        finished == [w EXCEPT !.live = w.live \ {id},
                              !.next_seq = n + 1,
                              !.painted_through = IF w.reprinting THEN w.painted_through ELSE n + 1,
                              !.ctrlo = IF follows THEN followed ELSE c]
        painted == IF w.reprinting THEN <<>> ELSE <<PaintFinal(n)>>
        shown == IF follows THEN <<CtrloShow(followed)>> ELSE <<>>
    IN  Becomes([type |-> "block_finished", id |-> id], [window |-> finished, fx |-> painted \o shown])

SavedThrough(seq) ==
    /\ w.save = "saved"
    /\ w.saved_through <= seq
    /\ seq <= w.next_seq
    /\ Becomes([type |-> "saved_through", seq |-> seq], TryDrop([w EXCEPT !.saved_through = seq]))

Compacted ==
    Becomes([type |-> "compacted"],
            TryDrop([w EXCEPT !.cycle = w.cycle + 1,
                              !.prev_first = IF w.held_first < w.next_seq THEN w.held_first ELSE None,
                              !.cycle_first = w.next_seq]))

NewEpoch(s) ==
    [s EXCEPT !.epoch = s.epoch + 1, !.painted_through = s.held_first, !.reprinting = TRUE]

Resized == Becomes([type |-> "resized"], With(NewEpoch(w), ReprintBegin))

ReprintTick ==
    LET from == w.painted_through
        to == Min(from + Slice, w.next_seq)
        isLast == to = w.next_seq
        slice == IF to > from THEN <<ReprintSlice(from, to)>> ELSE <<>>
        live == IF isLast THEN <<RepaintLive>> ELSE <<>>
    IN  /\ w.reprinting
        /\ Becomes([type |-> "reprint_tick"],
                   [window |-> [w EXCEPT !.painted_through = to, !.reprinting = ~isLast],
                    fx |-> slice \o live])

(* The newest held blocks: what opening shows, and End. *)
Newest(s) ==
    [Closed EXCEPT !.open = TRUE, !.lo = Max(s.held_first, s.next_seq - Window), !.hi = s.next_seq]

Older(c, count) ==
    [c EXCEPT !.lo = c.lo - count, !.hi = Min(c.hi, c.lo - count + Window)]

Newer(c, count) ==
    LET lo == Max(c.lo, c.hi + count - Window)
    IN  [c EXCEPT !.lo = lo, !.hi = c.hi + count, !.at_start = c.at_start /\ lo = c.lo]

CtrloOpened ==
    /\ ~w.ctrlo.open
    /\ Becomes([type |-> "ctrlo_opened"], Showing(w, Newest(w)))

CtrloClosed ==
    /\ w.ctrlo.open
    /\ Becomes([type |-> "ctrlo_closed"], Still([w EXCEPT !.ctrlo = Closed]))

CanAsk == w.save = "saved" /\ ~HasRead(w)

Asking(dir, from, count) ==
    With([w EXCEPT !.ctrlo.pending = [token |-> w.next_token, dir |-> dir, from |-> from],
                   !.next_token = w.next_token + 1],
         ReadLog(w.next_token, dir, from, count))

ScrolledOlder ==
    LET c == w.ctrlo
        e == [type |-> "ctrlo_scrolled", dir |-> "older"]
    IN  IF c.anchor = "tail" /\ c.lo > w.held_first
        THEN Becomes(e, Showing(w, Older(c, Min(Step, c.lo - w.held_first))))
        ELSE ~c.at_start /\ CanAsk /\ Becomes(e, Asking("older", c.lo, Step))

ScrolledNewer ==
    LET c == w.ctrlo
        e == [type |-> "ctrlo_scrolled", dir |-> "newer"]
    IN  IF c.anchor = "tail" /\ c.hi >= w.held_first
        THEN c.hi < w.next_seq /\ Becomes(e, Showing(w, Newer(c, Min(Step, w.next_seq - c.hi))))
        ELSE CanAsk /\ Becomes(e, Asking("newer", c.hi, Step))

CtrloScrolled(dir) ==
    /\ w.ctrlo.open
    /\ IF dir = "older" THEN ScrolledOlder ELSE ScrolledNewer

JumpedToStart ==
    LET c == w.ctrlo
        e == [type |-> "ctrlo_jumped", to |-> "start"]
        hi == Min(w.held_first + Window, w.next_seq)
    IN  IF w.save = "saved"
        THEN ~c.at_start /\ CanAsk /\ Becomes(e, Asking("first", 0, Window))
        ELSE /\ c.lo /= w.held_first \/ c.hi /= hi
             /\ Becomes(e, Showing(w, [c EXCEPT !.lo = w.held_first, !.hi = hi]))

JumpedToEnd ==
    LET c == w.ctrlo
    IN  /\ c.anchor = "start" \/ c.hi /= w.next_seq \/ HasRead(w)
        /\ Becomes([type |-> "ctrlo_jumped", to |-> "end"], Showing(w, Newest(w)))

CtrloJumped(to) ==
    /\ Jump
    /\ w.ctrlo.open
    /\ IF to = "start" THEN JumpedToStart ELSE JumpedToEnd

OlderRead(s, count) ==
    LET c == s.ctrlo
        n == Min(count, Min(Step, c.lo))
        moved == Older(c, n)
        atStart == IF c.anchor = "start" THEN moved.lo = 0 ELSE n = 0
    IN  Showing(s, [moved EXCEPT !.at_start = atStart])

NewerRead(s, count, met) ==
    LET c == s.ctrlo
        end == IF c.anchor = "start" THEN s.held_first ELSE s.next_seq
        moved == Newer(c, Min(count, Min(Step, end - c.hi)))
        joined == [moved EXCEPT !.anchor = "tail",
                                !.lo = s.held_first - (moved.hi - moved.lo),
                                !.hi = s.held_first]
    IN  Showing(s, IF c.anchor = "start" /\ met THEN joined ELSE moved)

FirstRead(s, count, met) ==
    LET n == Min(count, Min(Window, s.held_first))
        lo == s.held_first - n
        whole == [s.ctrlo EXCEPT !.anchor = "tail", !.lo = lo, !.at_start = TRUE,
                                 !.hi = Min(lo + Window, s.next_seq)]
        head == [s.ctrlo EXCEPT !.anchor = "start", !.lo = 0, !.hi = n, !.at_start = TRUE]
    IN  IF met THEN Showing(s, whole) ELSE IF n = 0 THEN Still(s) ELSE Showing(s, head)

LogReadDone(token, count, met) ==
    LET pending == w.ctrlo.pending
        s == [w EXCEPT !.ctrlo.pending = NoRead]
        e == [type |-> "log_read_done", token |-> token, count |-> count, met |-> met]
    IN  /\ HasRead(w)
        /\ pending.token = token
        /\ CASE pending.dir = "older" ->
                    Becomes(e, IF pending.from = w.ctrlo.lo THEN OlderRead(s, count) ELSE Still(s))
             [] pending.dir = "newer" ->
                    Becomes(e, IF pending.from = w.ctrlo.hi THEN NewerRead(s, count, met) ELSE Still(s))
             [] OTHER -> Becomes(e, FirstRead(s, count, met))

LogReadFailed(token) ==
    /\ HasRead(w)
    /\ w.ctrlo.pending.token = token
    /\ Becomes([type |-> "log_read_failed", token |-> token], Still([w EXCEPT !.ctrlo.pending = NoRead]))

(* A reply that nobody waits for: the one rejected event that is a step here, so that L11 has something to speak of. *)
StaleReply(token) ==
    /\ ~(HasRead(w) /\ w.ctrlo.pending.token = token)
    /\ effects' = <<>>
    /\ event' = (IF Quiet THEN NoEvent ELSE [type |-> "stale_reply", token |-> token])
    /\ UNCHANGED <<w, g>>

(* logFirst is the number of the log's first block: the log holds the blocks from there up to saved_through. *)
Resumed(cycle, cycleFirst, nextSeq, logFirst) ==
    LET fresh == [NewWindow(w.save) EXCEPT !.cycle = cycle, !.cycle_first = cycleFirst,
                                           !.held_first = cycleFirst, !.next_seq = nextSeq,
                                           !.saved_through = nextSeq, !.epoch = w.epoch,
                                           !.painted_through = cycleFirst]
        kept == TryDrop(fresh)
        ghosts == [NewGhosts(logFirst) EXCEPT !.memory = Blocks(cycleFirst, nextSeq), !.screen = g.screen]
    IN  /\ w.save = "saved"
        /\ cycleFirst <= nextSeq
        /\ BecomesFrom([type |-> "resumed", cycle |-> cycle, cycle_first |-> cycleFirst, next_seq |-> nextSeq],
                       [window |-> NewEpoch(kept.window), fx |-> kept.fx \o <<ReprintBegin>>],
                       ghosts)

-----------------------------------------------------------------------------
(* Laws of states. *)

TypeOK ==
    /\ w.save \in {"saved", "unsaved"}
    /\ w.cycle >= 0 /\ w.epoch >= 0 /\ w.next_token >= 0
    /\ w.turn_open \in BOOLEAN /\ w.reprinting \in BOOLEAN
    /\ Cardinality(w.live) <= MaxLive
    /\ w.ctrlo.anchor \in {"tail", "start"}
    /\ w.ctrlo.pending.dir \in {"none", "older", "newer", "first"}
    /\ Len(effects) <= 2

(* L1 *)
HeldIsRecentCycles ==
    (~w.turn_open /\ (w.save = "unsaved" \/ w.saved_through >= w.cycle_first)) => w.held_first >= w.cycle_first

(* L5, its half about states *)
CaughtUp == w.reprinting \/ w.painted_through = w.next_seq

(* L6 *)
ReprintInOrder ==
    w.reprinting => /\ w.held_first <= w.painted_through
                    /\ g.screen = Blocks(w.held_first, w.painted_through)

(* L8 *)
CtrlOWindowBound ==
    w.ctrlo.open => /\ w.ctrlo.hi - w.ctrlo.lo <= Window
                    /\ 0 <= w.ctrlo.lo /\ w.ctrlo.lo <= w.ctrlo.hi /\ w.ctrlo.hi <= w.next_seq

(* L9, its half about states *)
NoReadWhileClosed == HasRead(w) => w.ctrlo.open

(* L12, its half about states *)
NoReadPendingUnsaved == w.save = "unsaved" => ~HasRead(w)

(* L19 *)
ScreenHoldsHeld ==
    ~w.reprinting => Blocks(w.held_first, w.next_seq) \subseteq g.screen /\ g.memory \subseteq g.screen

(* X1, X2, X8, X10, X11, E2 *)
MemoryIsHeld == g.memory = Blocks(w.held_first, w.next_seq)

ShownIsWindow ==
    g.shown = (IF w.ctrlo.open
               THEN [lo |-> w.ctrlo.lo, hi |-> w.ctrlo.hi, anchor |-> w.ctrlo.anchor]
               ELSE NotShown)

Ordered ==
    /\ IF w.prev_first = None
       THEN w.held_first >= w.cycle_first /\ (MaxHeld > 0 \/ w.held_first = w.cycle_first)
       ELSE w.held_first = w.prev_first /\ w.prev_first < w.cycle_first
    /\ w.held_first <= w.painted_through /\ w.painted_through <= w.next_seq
    /\ w.cycle_first <= w.next_seq /\ w.saved_through <= w.next_seq
    /\ IF w.save = "saved" THEN w.held_first <= w.saved_through ELSE w.saved_through = 0
    /\ w.ctrlo.open \/ w.ctrlo = Closed

LiveDrawn == ~w.reprinting => g.drawn = w.live

AtStartIsStart ==
    /\ w.ctrlo.anchor = "start" => (w.ctrlo.at_start <=> w.ctrlo.lo = 0)
    /\ (w.ctrlo.at_start /\ w.ctrlo.anchor = "tail" /\ g.truthful /\ g.log_first /= None)
           => w.ctrlo.lo = g.log_first

HeldIsCapped ==
    (MaxHeld > 0 /\ w.save = "saved" /\ ~w.turn_open /\ w.saved_through = w.next_seq)
        => w.next_seq - w.held_first <= MaxHeld

-----------------------------------------------------------------------------
(* Laws of steps: each as a predicate on a step, and as a property. *)

Told == 1 .. Len(effects')
Has(type) == \E i \in Told : effects'[i].type = type

LiveKeptByDrop ==
    \A i \in Told : effects'[i].type = "drop" =>
        IF event'.type = "resumed"
        THEN effects'[i].to <= event'.next_seq
        ELSE effects'[i].to <= w.next_seq /\ w'.live = w.live

DropIsSaved ==
    \A i \in Told :
        (effects'[i].type = "drop" /\ w'.save = "saved") => effects'[i].to <= w'.saved_through

ChangeIsLocal ==
    event'.type = "block_changed" => w' = w /\ effects' = <<RepaintBlock(event'.id)>>

PaintIsNext ==
    \A i \in Told : effects'[i].type = "paint_final" =>
        effects'[i].seq = w.painted_through /\ w'.painted_through = effects'[i].seq + 1

SliceIsBound ==
    \A i \in Told : effects'[i].type = "reprint_slice" => effects'[i].to - effects'[i].from <= Slice

ReadIsOne ==
    \A i \in Told : effects'[i].type = "read_log" =>
        ~HasRead(w) /\ w'.ctrlo.pending.token = effects'[i].token

OpenIsNewest ==
    event'.type = "ctrlo_opened" =>
        /\ w'.ctrlo.hi = w'.next_seq
        /\ w'.ctrlo.lo >= w'.held_first
        /\ ~Has("read_log")
        /\ w'.ctrlo.pending.dir = "none"

StaleIsNothing == event'.type = "stale_reply" => w' = w /\ effects' = <<>>

SavedWhereRead == Has("read_log") => w'.save = "saved"

ResumeIsFromLog ==
    event'.type = "resumed" =>
        /\ w'.prev_first = None
        /\ w'.live = {}
        /\ ~w'.turn_open
        /\ w'.ctrlo = Closed
        /\ w'.next_token = 0
        /\ w'.save = "saved"
        /\ w'.next_seq <= w'.saved_through
        /\ w'.held_first >= event'.cycle_first
        /\ w'.epoch > w.epoch

DropIsBetweenTurns == Has("drop") => ~w'.turn_open

PaintIsFresh ==
    /\ \A i \in Told : effects'[i].type = "paint_final" => effects'[i].seq \notin g.screen
    /\ \A i \in Told : effects'[i].type = "reprint_slice" =>
            Blocks(effects'[i].from, effects'[i].to) \intersect g.screen = {}
    /\ Has("reprint_begin") => w'.epoch > w.epoch

ReplyIsBounded ==
    (event'.type = "log_read_done" /\ w.ctrlo.anchor = w'.ctrlo.anchor /\ w.ctrlo.pending.dir /= "first") =>
        /\ w'.ctrlo.lo - w.ctrlo.lo <= Step
        /\ w.ctrlo.lo - w'.ctrlo.lo <= Step
        /\ w'.ctrlo.hi - w.ctrlo.hi <= Step
        /\ w.ctrlo.hi - w'.ctrlo.hi <= Step

RangeIsNotEmpty ==
    \A i \in Told :
        (effects'[i].type = "drop" \/ effects'[i].type = "reprint_slice") => effects'[i].from < effects'[i].to

RepaintIsLast ==
    /\ Len(effects') <= 2
    /\ Has("reprint_begin") = (event'.type = "resized" \/ event'.type = "resumed")
    /\ Has("repaint_live") = (event'.type = "reprint_tick" /\ ~w'.reprinting)
    /\ Has("repaint_live") => effects'[Len(effects')].type = "repaint_live"

ReadIsOfScroll ==
    \A i \in Told : effects'[i].type = "read_log" =>
        /\ IF effects'[i].dir = "first"
           THEN event'.type = "ctrlo_jumped"
           ELSE event'.type = "ctrlo_scrolled" /\ event'.dir = effects'[i].dir
        /\ effects'[i].dir /= "newer" => ~w.ctrlo.at_start

ScrollIsBounded ==
    (event'.type = "ctrlo_scrolled" /\ Has("ctrlo_show")) =>
        IF event'.dir = "older"
        THEN /\ w'.ctrlo.lo < w.ctrlo.lo
             /\ w.ctrlo.lo - w'.ctrlo.lo <= Step
             /\ w'.ctrlo.lo >= w'.held_first
        ELSE /\ w'.ctrlo.hi > w.ctrlo.hi
             /\ w'.ctrlo.hi - w.ctrlo.hi <= Step

LiveNeverDropped == [][LiveKeptByDrop]_vars     \* L2
DropOnlySaved == [][DropIsSaved]_vars           \* L3
UpdateIsLocal == [][ChangeIsLocal]_vars         \* L4
PaintOnceInOrder == [][PaintIsNext]_vars        \* L5
ReprintSliceBound == [][SliceIsBound]_vars      \* L7
OneReadInFlight == [][ReadIsOne]_vars           \* L9
OpenReadsNothing == [][OpenIsNewest]_vars       \* L10
StaleReadIgnored == [][StaleIsNothing]_vars     \* L11
NoReadWhenUnsaved == [][SavedWhereRead]_vars    \* L12
RecoveredFromLog == [][ResumeIsFromLog]_vars    \* L13
DropBetweenTurns == [][DropIsBetweenTurns]_vars \* L18
PaintedOnce == [][PaintIsFresh]_vars            \* L20
ReadBounded == [][ReplyIsBounded]_vars          \* L21
NoEmptyRange == [][RangeIsNotEmpty]_vars        \* X9
RepaintLiveLast == [][RepaintIsLast]_vars       \* X14
ReadOnlyOnScroll == [][ReadIsOfScroll]_vars     \* X15
ScrollBounded == [][ScrollIsBounded]_vars       \* X18
=============================================================================
