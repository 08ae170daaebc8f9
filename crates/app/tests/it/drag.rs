//! The source's side of drag and drop: the XDND protocol, spoken to one window.
//!
//! ```text
//!  enter ─► position ─► "what is it?" ─► a list of files ─► "accepted" ─► drop ─► done
//!   source   source      window           source             window       source  window
//! ```

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use x11rb::{
    COPY_DEPTH_FROM_PARENT, COPY_FROM_PARENT, CURRENT_TIME, atom_manager,
    connection::Connection,
    protocol::{
        Event,
        xproto::{
            ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask, PropMode,
            SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, WindowClass,
        },
    },
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

use crate::window::MAX_WAIT;

atom_manager! {
    Atoms: AtomsCookie {
        XdndEnter,
        XdndPosition,
        XdndStatus,
        XdndLeave,
        XdndDrop,
        XdndFinished,
        XdndSelection,
        XdndActionCopy,
        TextUriList: b"text/uri-list",
    }
}

/// Files held over a window.
pub(crate) struct Drag {
    connection: RustConnection,
    atoms: Atoms,
    source: u32,
    target: u32,
    /// The files as `text/uri-list`.
    files: String,
}

/// Version of the protocol.
const VERSION: u32 = 5;

impl Drag {
    /// Holds files, named by URIs, over the middle of a window until it accepts them.
    pub(crate) fn over(display: &str, target: &str, uris: &[String]) -> Self {
        let (connection, screen) = x11rb::connect(Some(display)).expect("a connection");
        let atoms = Atoms::new(&connection).unwrap().reply().unwrap();
        let root = connection.setup().roots[screen].root;
        let source = connection.generate_id().unwrap();
        let (depth, class) = (COPY_DEPTH_FROM_PARENT, WindowClass::INPUT_OUTPUT);
        let (visual, aux) = (COPY_FROM_PARENT, CreateWindowAux::new());
        connection.create_window(depth, source, root, 0, 0, 1, 1, 0, class, visual, &aux).unwrap();
        let (target, files) = (target.parse().unwrap(), uris.join("\r\n") + "\r\n");
        let drag = Self { connection, atoms, source, target, files };
        let selection = drag.atoms.XdndSelection;
        drag.connection.set_selection_owner(source, selection, CURRENT_TIME).unwrap();
        let Atoms { XdndEnter, XdndPosition, XdndStatus, XdndActionCopy, TextUriList, .. } =
            drag.atoms;
        drag.send(XdndEnter, [VERSION << 24, TextUriList, 0, 0]);
        let middle = drag.connection.get_geometry(target).unwrap().reply().unwrap();
        let position = u32::from(middle.width / 2) << 16 | u32::from(middle.height / 2);
        let hold = || drag.send(XdndPosition, [0, position, CURRENT_TIME, XdndActionCopy]);
        hold();
        let mut is_asked = false;
        let mut takes = None;
        drag.until(|event| {
            match event {
                Event::SelectionRequest(request) => {
                    drag.answer(&request);
                    is_asked = true;
                }
                Event::ClientMessage(it) if it.type_ == XdndStatus => {
                    takes = Some(it.data.as_data32()[1] & 1 == 1);
                }
                _ => {}
            }
            is_asked && takes.is_some()
        });
        assert_eq!(takes, Some(true), "the window accepts files");
        // The window answers this once it has read the list of files.
        hold();
        drag.until(|event| matches!(event, Event::ClientMessage(it) if it.type_ == XdndStatus));
        drag
    }

    /// Moves the files off the window.
    pub(crate) fn leave(self) {
        self.send(self.atoms.XdndLeave, [0; 4]);
    }

    /// Drops the files; returns when the window has acknowledged.
    pub(crate) fn drop_them(self) {
        let Atoms { XdndDrop, XdndFinished, .. } = self.atoms;
        self.send(XdndDrop, [0, CURRENT_TIME, 0, 0]);
        self.until(
            |event| matches!(event, Event::ClientMessage(message) if message.type_ == XdndFinished),
        );
    }

    /// Sends a client message to the window.
    fn send(&self, message: u32, [a, b, c, d]: [u32; 4]) {
        let event = ClientMessageEvent::new(32, self.target, message, [self.source, a, b, c, d]);
        self.connection.send_event(false, self.target, EventMask::NO_EVENT, event).unwrap();
        self.connection.flush().unwrap();
    }

    /// Answers a request for the list of files.
    fn answer(&self, request: &SelectionRequestEvent) {
        let SelectionRequestEvent { time, requestor, selection, target, property, .. } = *request;
        assert_eq!(target, self.atoms.TextUriList);
        let bytes = self.files.as_bytes();
        let mode = PropMode::REPLACE;
        self.connection.change_property8(mode, requestor, property, target, bytes).unwrap();
        let (response_type, sequence) = (SELECTION_NOTIFY_EVENT, 0);
        let answer = SelectionNotifyEvent {
            response_type,
            sequence,
            time,
            requestor,
            selection,
            target,
            property,
        };
        self.connection.send_event(false, requestor, EventMask::NO_EVENT, answer).unwrap();
        self.connection.flush().unwrap();
    }

    /// Handles events until `is_it` accepts one.
    fn until(&self, mut is_it: impl FnMut(Event) -> bool) {
        let start = Instant::now();
        while start.elapsed() < MAX_WAIT {
            match self.connection.poll_for_event().unwrap() {
                Some(event) if is_it(event.clone()) => return,
                Some(_) => {}
                None => sleep(Duration::from_millis(10)),
            }
        }
        panic!("the window does not answer");
    }
}
